// `packyard.json`, which describes a bundle: the digests of its files, and the setters and needs of each use case.

import { DIGEST } from "../channel/digest";
import { json, list, object, text, textMap, texts, type Fields } from "../channel/json";
import type { Bytes } from "../channel/source";
import { IntegrityError } from "../errors";

export const MANIFEST = "packyard.json";
const LIMIT = 4 << 20;

/** A setter's shipped value: a text, the items of a list, or null where it is required. */
export type ShippedValue = string | readonly string[] | null;

export interface ShippedUseCase {
  readonly path: string;
  readonly description: string;
  readonly after: readonly string[];
  /** Texts such as `PersistentVolumeClaim PVC_NAME`, where the setter's name stands for its value. */
  readonly requires: readonly string[];
  readonly setters: ReadonlyMap<string, ShippedValue>;
}

/** What authors say that a cluster must have: an operator, a Secret or a version of Kubernetes. */
export interface Required {
  readonly operator: string;
  readonly definitions: readonly string[];
  readonly offers: readonly string[];
  readonly oldest: string;
  readonly link: string;
  readonly install: readonly string[];
  readonly secret: string;
  readonly keys: readonly string[];
  readonly kubernetes: string;
  readonly description: string;
}

export interface Manifest {
  readonly kind: string;
  readonly name: string;
  readonly version: string;
  readonly model: ReadonlyMap<string, string>;
  readonly images: readonly string[];
  readonly kubernetes: readonly string[];
  /** What replaced a former setter or use case. */
  readonly moved: ReadonlyMap<string, string>;
  readonly requires: readonly Required[];
  /** By the path of a file and by the rule of lint, the reason. */
  readonly exceptions: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly useCases: ReadonlyMap<string, ShippedUseCase>;
  readonly files: ReadonlyMap<string, string>;
}

/** Read the file, or throw `IntegrityError`. */
export function parseManifest(data: Bytes): Manifest {
  if (data.length > LIMIT) throw new IntegrityError(`${MANIFEST} is larger than ${LIMIT} bytes`);
  const fields = object(json(data, MANIFEST), MANIFEST);
  const kind = text(fields.get("kind"), `${MANIFEST}: kind`);
  if (fields.get("apiVersion") !== "packyard/v1" || (kind !== "Bundle" && kind !== "Library")) {
    throw new IntegrityError(`${MANIFEST} should be a packyard/v1 Bundle.`);
  }
  const take = (name: string): [unknown, string] => [fields.get(name), `${MANIFEST}: ${name}`];
  return {
    kind,
    name: text(...take("name")),
    version: text(...take("version")),
    model: textMap(...take("model")),
    images: texts(...take("images")),
    kubernetes: texts(...take("kubernetes")),
    moved: textMap(...take("moved")),
    requires: list(fields.get("requires") ?? [], `${MANIFEST}: requires`).map(requiredOf),
    exceptions: new Map([...object(fields.get("exceptions") ?? {}, "exceptions")].map(([path, rules]) => [path, textMap(rules, path)])),
    useCases: new Map([...object(...take("useCases"))].map(([path, each]) => [path, useCaseOf(path, object(each, path))])),
    files: new Map([...textMap(...take("files"))].map(([path, digest]) => [path, checked(path, digest)])),
  };
}

function checked(path: string, digest: string): string {
  if (!DIGEST.test(digest)) throw new IntegrityError(`${MANIFEST}: files.${path}: ${digest.slice(0, 80)} is not a digest`);
  return digest;
}

function useCaseOf(path: string, fields: Fields): ShippedUseCase {
  const where = `${MANIFEST}: useCases.${path}`;
  const setters = [...object(fields.get("setters") ?? {}, where)].map(([name, value]): [string, ShippedValue] => [name, shipped(value, where)]);
  return {
    path,
    description: text(fields.get("description") ?? "", where),
    after: texts(fields.get("after"), where),
    requires: fields.has("requirements") ? list(fields.get("requirements"), where).map((each) => olderRequirement(each, where)) : texts(fields.get("requires"), where),
    setters: new Map(setters),
  };
}

function shipped(value: unknown, where: string): ShippedValue {
  if (value === null || typeof value === "string") return value;
  return Array.isArray(value) ? texts(value, where) : older(object(value, where));
}

/** The value of the older form, which described each setter in full. */
function older(fields: Fields): ShippedValue {
  const value = fields.get("default") ?? null;
  if (fields.get("required") === true || value === null) return null;
  return Array.isArray(value) ? value.map(String) : String(value);
}

function olderRequirement(value: unknown, where: string): string {
  const fields = object(value, where);
  return `${text(fields.get("kind"), where)} ${text(fields.get("name"), where)}`.trimEnd();
}

function requiredOf(value: unknown): Required {
  const where = `${MANIFEST}: requires`;
  const fields = object(value, where);
  const word = (name: string): string => text(fields.get(name) ?? "", where);
  return {
    operator: word("operator"),
    definitions: texts(fields.get("definitions"), where),
    offers: texts(fields.get("offers"), where),
    oldest: word("oldest"),
    link: word("link"),
    install: texts(fields.get("install"), where),
    secret: word("secret"),
    keys: texts(fields.get("keys"), where),
    kubernetes: word("kubernetes"),
    description: word("description"),
  };
}

/** The use cases in the order of work, without folders of options: before each stands what has to run before it. */
export function deployed(manifest: Manifest): ShippedUseCase[] {
  const found = [...manifest.useCases.values()].filter(({ path }) => path.split("/").pop() !== "options");
  const earlier = new Set(found.flatMap(({ after }) => after));
  const order = (each: ShippedUseCase): string => `${earlier.has(each.path) ? 1 : 0}${each.path}`;
  const sorted = found.sort((one, other) => (order(one) < order(other) ? -1 : 1));
  const known = new Map(sorted.map((each) => [each.path, each]));
  const paths = new Set(sorted.flatMap(({ after, path }) => [...after, path]));
  return [...paths].flatMap((path) => known.get(path) ?? []);
}
