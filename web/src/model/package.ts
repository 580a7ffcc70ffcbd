// What a package is, from the files of its bundle: use cases, their setters and rules, options, and the fields that
// setters reach.

import type { Bytes } from "../channel/source";
import { InputError } from "../errors";
import type { Rule } from "../judge/rules";
import type { Setter } from "../judge/setter";
import type { Files } from "./archive";
import { Definitions, type Definition } from "./definitions";
import { findBindings, pathText, sets } from "./fields";
import type { Step } from "./fieldtypes";
import { KRMFILE, parseKrmfile, type Krmfile } from "./krmfile";
import { deployed, MANIFEST, parseManifest, type Manifest, type ShippedValue } from "./manifest";
import { lexeme, locate, type Document, type Node } from "./node";
import { isMarked } from "./reference";
import { decode, parseText } from "./yaml";

export const KUSTOMIZATIONS = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
const OPTIONS = "options";
const PRESETS = "presets";

/** A folder with definitions and the files that they reach: a use case, or an option. */
export interface Part {
  /** The folder of its Krmfile. */
  readonly folder: string;
  readonly definitions: Definitions;
  readonly rules: readonly Rule[];
  /** Paths of its resource files. */
  readonly resources: readonly string[];
  /** Why its Krmfile cannot be read; empty where it can. */
  readonly problem: string;
}

export interface UseCase extends Part {
  readonly path: string;
  /** Its path without the folders that all use cases of the package begin with. */
  readonly name: string;
  readonly description: string;
  /** The paths of those that run before it. */
  readonly after: readonly string[];
  readonly requires: readonly string[];
  readonly setters: readonly Setter[];
  readonly shipped: ReadonlyMap<string, ShippedValue>;
  readonly options: readonly Option[];
}

export interface Option extends Part {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  /** The setters that reach a field in its files. */
  readonly setters: readonly Setter[];
}

/** A field that a setter gives its value: its place, and the names from the setter to its own definition. */
export interface Field {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Positions in the text of the file. */
  readonly start: number;
  readonly end: number;
  readonly path: string;
  readonly steps: readonly Step[];
  readonly value: string;
  readonly through: readonly string[];
}

export interface PackageModel {
  readonly manifest: Manifest;
  readonly title: string;
  readonly readme: string;
  readonly useCases: readonly UseCase[];
  readonly options: readonly Option[];
  /** The texts of values files by their names. */
  readonly presets: ReadonlyMap<string, string>;
  readonly files: Files;
}

/** Read a package; a Krmfile that cannot be read is told by its use case, and stops nothing else. */
export function parsePackage(files: Files): PackageModel {
  const data = files.get(MANIFEST);
  if (!data) throw new InputError(`has no ${MANIFEST}`, "is this a bundle?");
  const manifest = parseManifest(data);
  const reading = new Reading(files);
  const cases = deployed(manifest);
  const prefix = commonFolder(cases.map(({ path }) => path));
  const readme = textOf(files.get("README.md"));
  return {
    manifest,
    readme,
    title: /^# +(.+)$/m.exec(readme)?.[1]?.trim() ?? manifest.name,
    useCases: cases.map((each) => {
      const part = reading.part(each.path);
      const setters = [...part.definitions.setters.values()];
      return { ...part, ...each, name: each.path.slice(prefix.length) || each.path, setters, shipped: each.setters, options: reading.optionsOf(each.path) };
    }),
    options: reading.allOptions(),
    presets: presetsOf(files),
    files,
  };
}

/** The fields that a set of a setter writes, in the order of the files. */
export function fieldsOf(model: PackageModel, part: Part, name: string): Field[] {
  return boundFields(model.files, part).flatMap(({ definition, field }) => {
    const through = part.definitions.way(definition, name);
    return through.length > 0 ? [{ ...field, through }] : [];
  });
}

export interface BoundField {
  readonly definition: Definition;
  readonly field: Field;
  readonly node: Node;
  readonly root: Node;
}

const bound = new WeakMap<Part, readonly BoundField[]>();

/** Every field that a definition of the part gives its value, with that. */
export function boundFields(files: Files, part: Part): readonly BoundField[] {
  const known = bound.get(part) ?? findFields(files, part);
  bound.set(part, known);
  return known;
}

function findFields(files: Files, part: Part): BoundField[] {
  return part.resources.flatMap((file) =>
    documentsOf(files, file).flatMap(({ root }) =>
      root === undefined ? [] : findBindings(root).flatMap(({ node, path, reference }) => {
        const definition = part.definitions.resolve(reference);
        if (!definition || !sets(definition, node)) return [];
        const place = { file, start: node.start, end: node.end, ...locate(node.source, node.start) };
        const value = node.kind === "scalar" ? node.value : lexeme(node);
        return [{ definition, node, root, field: { ...place, path: pathText(path), steps: path, value, through: [reference.name] } }];
      }),
    ),
  );
}

const parsed = new WeakMap<Bytes, Document[]>();

/** The documents of a file that holds setter comments; none of others, and of those that cannot be read. */
function documentsOf(files: Files, path: string): readonly Document[] {
  const data = files.get(path);
  if (!data) return [];
  const known = parsed.get(data) ?? readDocuments(data, path);
  parsed.set(data, known);
  return known;
}

function readDocuments(data: Bytes, path: string): Document[] {
  try {
    const text = decode(data, path);
    return isMarked(text) ? parseText(text, path) : [];
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

class Reading {
  private readonly paths: readonly string[];
  private readonly krmfiles = new Map<string, Krmfile | InputError | undefined>();
  private readonly known = new Map<string, readonly Option[]>();

  constructor(private readonly files: Files) {
    this.paths = [...files.keys()].sort(byWalk);
  }

  /** The definitions of a folder; `resources` are the files that they reach, those below another folder or all. */
  part(folder: string, below = folder): Part {
    const krmfile = this.krmfile(folder);
    const found = krmfile instanceof InputError ? undefined : krmfile;
    return {
      folder,
      definitions: found?.definitions ?? new Definitions(new Map(), new Map()),
      rules: found?.rules ?? [],
      resources: this.resources(below),
      problem: krmfile instanceof InputError ? krmfile.message : "",
    };
  }

  /** The options of the nearest folder `options/` above a use case. */
  optionsOf(useCase: string): readonly Option[] {
    for (let folder = useCase; ; folder = parentOf(folder)) {
      const found = this.optionsIn(join(folder, OPTIONS));
      if (found.length > 0 || folder === "") return found;
    }
  }

  allOptions(): Option[] {
    const folders = new Set(this.paths.flatMap((path) => /^(?:.*\/)?options(?=\/)/.exec(path)?.[0] ?? []));
    return [...folders].sort().flatMap((folder) => this.optionsIn(folder));
  }

  private optionsIn(folder: string): readonly Option[] {
    const known = this.known.get(folder);
    if (known) return known;
    const names = [...new Set(this.paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1).split("/")[0] ?? ""))];
    const options = names.sort().flatMap((name) => this.option(folder, name) ?? []);
    this.known.set(folder, options);
    return options;
  }

  private option(folder: string, name: string): Option | undefined {
    const path = `${folder}/${name}`;
    const file = KUSTOMIZATIONS.map((each) => `${path}/${each}`).find((each) => this.files.has(each));
    if (file === undefined) return undefined;
    const part = this.part(this.files.has(`${path}/${KRMFILE}`) ? path : folder, path);
    const reached = new Set(boundFields(this.files, part).flatMap(({ definition }) => [...settersOf(part, definition)]));
    const setters = [...part.definitions.setters.values()].filter((setter) => reached.has(setter.name));
    return { ...part, name, path, description: descriptionOf(textOf(this.files.get(file))), setters };
  }

  private krmfile(folder: string): Krmfile | InputError | undefined {
    if (!this.krmfiles.has(folder)) this.krmfiles.set(folder, this.readKrmfile(join(folder, KRMFILE)));
    return this.krmfiles.get(folder);
  }

  private readKrmfile(path: string): Krmfile | InputError | undefined {
    const data = this.files.get(path);
    if (!data) return undefined;
    try {
      return parseKrmfile(decode(data, path), path);
    } catch (error) {
      if (error instanceof InputError) return error;
      throw error;
    }
  }

  /** The YAML files below a folder, without those of folders further down that have definitions of their own. */
  private resources(folder: string): string[] {
    const prefix = folder === "" ? "" : `${folder}/`;
    return this.paths.filter((path) => path.startsWith(prefix) && /\.ya?ml$/.test(path) && this.holder(path, folder) === folder);
  }

  private holder(path: string, within: string): string {
    let folder = parentOf(path);
    while (folder !== within && !this.files.has(join(folder, KRMFILE))) folder = parentOf(folder);
    return folder;
  }
}

function settersOf(part: Part, definition: Definition): ReadonlySet<string> {
  try {
    return part.definitions.settersOf(definition);
  } catch (error) {
    if (error instanceof InputError) return new Set();
    throw error;
  }
}

/** The first sentence of the comment that an option's kustomization begins with, without its dot. */
function descriptionOf(text: string): string {
  const lines = text.split(/\r?\n/);
  const end = lines.findIndex((line) => !line.startsWith("#"));
  const comment = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.slice(1).trim()).join(" ");
  return (comment.split(". ")[0] ?? "").replace(/\.$/, "");
}

function presetsOf(files: Files): Map<string, string> {
  const found = [...files].filter(([path]) => /^presets\/[^/]+\.yaml$/.test(path));
  return new Map(found.map(([path, data]) => [path.slice(PRESETS.length + 1, -".yaml".length), textOf(data)]));
}

function textOf(data: Uint8Array | undefined): string {
  return data ? new TextDecoder().decode(data) : "";
}

export function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Files before the folders beside them, each by name, as packyard walks a tree. */
function byWalk(one: string, other: string): number {
  const [first, second] = [parentOf(one), parentOf(other)];
  if (first === second) return one < other ? -1 : 1;
  if (second.startsWith(first === "" ? "" : `${first}/`)) return -1;
  if (first.startsWith(second === "" ? "" : `${second}/`)) return 1;
  return first < second ? -1 : 1;
}

function commonFolder(paths: readonly string[]): string {
  const [first = "", ...rest] = paths;
  if (rest.length === 0) return "";
  const parts = first.split("/");
  let length = 0;
  while (length < parts.length && rest.every((path) => path.split("/")[length] === parts[length])) length += 1;
  return length === 0 ? "" : `${parts.slice(0, length).join("/")}/`;
}
