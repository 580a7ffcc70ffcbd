// What differs between two packages: use cases, options, setters, objects, fields, files, as `packyard diff` says it.

import { InputError } from "../errors";
import type { Files } from "../model/archive";
import type { FieldTypes } from "../model/fieldtypes";
import { KRMFILE } from "../model/krmfile";
import { MANIFEST, parseManifest, type Manifest } from "../model/manifest";
import { KUSTOMIZATIONS, parentOf } from "../model/package";
import { find, text } from "../model/node";
import { decode, parseText } from "../model/yaml";
import { changeOf, type Change, type What } from "./change";
import { differing, statedIn, type Stated } from "./definitions";
import { documentsIn, paired, titleOf, type ComparedDocument } from "./documents";
import { compareFields } from "./fields";

const WORKSPACE = "packyard.yaml";
const YAML = /(?:\.ya?ml|\/Kustomization)$/;

/** What differs between two packages, or two libraries, sorted by directories. */
export function compare(before: Files, after: Files, types: FieldTypes): Change[] {
  const isLibrary = after.has(WORKSPACE);
  const [old, now] = [partsOf(before), partsOf(after)];
  const whole = new Set([...old.keys(), ...now.keys()].filter((folder) => old.has(folder) !== now.has(folder)));
  const found = [...whole].map((folder): Change => {
    const [files, parts, change] = old.has(folder) ? [before, old, "removed" as const] : [after, now, "added" as const];
    return changeOf({ where: folder, what: wordOf(files, parts.get(folder) ?? "", isLibrary), change });
  });
  const folders = new Set([...old.keys(), ...now.keys(), ...[...before.keys(), ...after.keys()].filter(isKrmfile).map(parentOf)]);
  const placed = [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => !isSameFile(before.get(path), after.get(path)))
    .map((path): [string, string] => [holder(path, folders), path]);
  const stays = placed.filter(([folder]) => !whole.has(folder)).sort(byBoth);
  const krmfiles = (isLibrary ? placed : stays).map(([, path]) => path).filter(isKrmfile);
  found.push(...ofDefinitions(before, after, krmfiles, isLibrary), ...ofRequirements(before, after, whole));
  for (const folder of new Set(stays.map(([each]) => each))) {
    const paths = stays.filter(([each, path]) => each === folder && !isKrmfile(path) && path !== MANIFEST).map(([, path]) => path);
    found.push(...ofContents(before, after, folder, paths, types));
  }
  const explained = [...explain(found, after)];
  return explained.sort((one, other) => order(one.where, other.where)); // which keeps the order of the others
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function byBoth(one: [string, string], other: [string, string]): number {
  return order(one[0], other[0]) || order(one[1], other[1]);
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function isKrmfile(path: string): boolean {
  return baseOf(path) === KRMFILE;
}

function isSameFile(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && one.length === other.length && one.every((byte, place) => byte === other[place]);
}

/** The kustomization of each directory that has one. */
function partsOf(files: Files): Map<string, string> {
  return new Map([...files.keys()].filter((path) => KUSTOMIZATIONS.includes(baseOf(path))).map((path) => [parentOf(path), path]));
}

function wordOf(files: Files, path: string, isLibrary: boolean): What {
  const isComponent = kindOf(files, path) === "Component";
  return isComponent ? (isLibrary ? "overlay" : "option") : isLibrary ? "base" : "use case";
}

function kindOf(files: Files, path: string): string {
  const data = files.get(path);
  const [document] = data ? (tried(() => parseText(decode(data, path), path)) ?? []) : [];
  return text(document?.root, "kind");
}

function tried<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** The nearest of some directories around a file; an empty text is the package. */
function holder(path: string, folders: ReadonlySet<string>): string {
  let folder = parentOf(path);
  while (folder !== "" && !folders.has(folder)) folder = parentOf(folder);
  return folder;
}

interface Placed extends Stated {
  readonly where: string;
}

/** Compare what Krmfiles state; in a library, wherever it is stated. */
function ofDefinitions(before: Files, after: Files, paths: readonly string[], isLibrary: boolean): Change[] {
  const [old, now] = [new Map<string, Placed>(), new Map<string, Placed>()];
  const unread: Change[] = [];
  for (const path of paths) {
    const where = isLibrary ? "" : parentOf(path);
    try {
      const [one, other] = [before, after].map((files) => statedBy(files, path)) as [Stated[], Stated[]];
      for (const each of one) old.set(keyOf(where, each), { ...each, where });
      for (const each of other) now.set(keyOf(where, each), { ...each, where });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      unread.push(fileChange(before, after, parentOf(path), path, error.message));
    }
  }
  const keys = [...new Set([...old.keys(), ...now.keys()])].sort();
  return [...unread, ...keys.flatMap((key) => ofDefinition(old.get(key), now.get(key)))];
}

function statedBy(files: Files, path: string): Stated[] {
  const data = files.get(path);
  return data ? statedIn(decode(data, path), path) : [];
}

function keyOf(where: string, { what, name }: Stated): string {
  return [where, what, name].join("\0");
}

function ofDefinition(one: Placed | undefined, other: Placed | undefined): Change[] {
  const known = one ?? other;
  if (!known) return [];
  const { where, what, name } = known;
  if (!one || !other) {
    const [before, after] = [one, other].map((each) => each?.facts.get("default"));
    return [changeOf({ where, what, name, change: one ? "removed" : "added", before, after })];
  }
  return differing(one, other).map((each) => changeOf({ where, what, name, change: "changed", ...each }));
}

/** Compare what the use cases that stay need of a cluster. */
function ofRequirements(before: Files, after: Files, whole: ReadonlySet<string>): Change[] {
  const [one, other] = [before.get(MANIFEST), after.get(MANIFEST)];
  if (!one || !other || isSameFile(one, other)) return [];
  const [old, now] = [parseManifest(one).useCases, parseManifest(other).useCases];
  const stay = [...old.keys()].filter((path) => now.has(path) && !whole.has(path)).sort();
  return stay.flatMap((where) => {
    const [was, is] = [old, now].map((cases) => new Set(cases.get(where)?.requires)) as [Set<string>, Set<string>];
    const names = [...was, ...is].filter((name) => was.has(name) !== is.has(name)).sort();
    return names.map((name) => changeOf({ where, what: "requirement", name, change: was.has(name) ? "removed" : "added" }));
  });
}

/** Compare the files of one directory: objects by their fields, all else as files. */
function ofContents(before: Files, after: Files, folder: string, paths: readonly string[], types: FieldTypes): Change[] {
  const [old, now]: [ComparedDocument[], ComparedDocument[]] = [[], []];
  const files: Change[] = [];
  for (const path of paths) {
    if (!YAML.test(path)) {
      files.push(fileChange(before, after, folder, path));
      continue;
    }
    try {
      const [one, other] = [before, after].map((each) => documentsOf(each, path)) as [ComparedDocument[], ComparedDocument[]];
      old.push(...one);
      now.push(...other);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      files.push(fileChange(before, after, folder, path, error.message));
    }
  }
  return [...files, ...paired(old, now).flatMap(([one, other]) => ofObject(folder, one, other, types))];
}

function documentsOf(files: Files, path: string): ComparedDocument[] {
  const data = files.get(path);
  return data ? documentsIn(decode(data, path), path) : [];
}

function ofObject(where: string, before: ComparedDocument | undefined, after: ComparedDocument | undefined, types: FieldTypes): Change[] {
  const known = after ?? before;
  if (!known) return [];
  const name = titleOf(known);
  if (!before || !after) return [changeOf({ where, what: "object", name, change: before ? "removed" : "added" })];
  return compareFields(before, after, types).map((each) => changeOf({ where, what: "field", name, ...each }));
}

function fileChange(before: Files, after: Files, where: string, path: string, note = ""): Change {
  const change = !before.has(path) ? "added" : after.has(path) ? "changed" : "removed";
  return changeOf({ where, what: "file", name: where === "" ? path : path.slice(where.length + 1), change, note });
}

/** Say of what was removed what replaced it: as the package says, or of setters as their fields are bound now. */
function explain(found: readonly Change[], after: Files): Change[] {
  const bound = found.filter((change) => change.change === "bound" && typeof change.after === "string");
  const moved = new Map([...bound.map((change): [string, string] => [String(change.before), `${String(change.after)} sets its fields now`]), ...movedIn(after)]);
  return found.map((change) => {
    if (change.change !== "removed") return change;
    if (change.what === "setter") return { ...change, note: moved.get(change.name) ?? "" };
    if (change.what !== "use case") return change;
    const [, by] = [...moved].find(([name]) => `/${change.where}/`.includes(`/${name}/`)) ?? [];
    return { ...change, note: by === undefined ? "" : `${by} replaces it` };
  });
}

/** What a package, or a library, says of setters that it once had. */
function movedIn(files: Files): ReadonlyMap<string, string> {
  const workspace = files.get(WORKSPACE);
  if (!workspace) return tried(() => manifestOf(files)?.moved) ?? new Map();
  const root = tried(() => parseText(decode(workspace, WORKSPACE), WORKSPACE))?.find((document) => document.root)?.root;
  const moved = find(root, "moved");
  const children = moved?.kind === "mapping" ? moved.children : [];
  return new Map(children.flatMap(({ key, value }) => (key?.kind === "scalar" && value.kind === "scalar" ? [[key.value, value.value]] : [])));
}

function manifestOf(files: Files): Manifest | undefined {
  const data = files.get(MANIFEST);
  return data && parseManifest(data);
}
