/** What a channel lists: a short summary of each package, found by words and facts in few requests. */
import { object, text, textMap, texts } from "./json";
import { bisect, leaves, type Leaf, type Node, type ReadNode } from "./tree";

export interface Summary {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly model: ReadonlyMap<string, string>;
  readonly useCases: readonly string[];
  /** What a cluster may be without: `mpijobs.kubeflow.org`, `nvidia.com/gpu`; empty in older indexes. */
  readonly needs: readonly string[];
  readonly kind: string;
}

const WORD = /[\p{L}\p{N}]+/gu;
const AT_ONCE = 6;
const OPTIONS = "options"; // the folder beside the use cases, which the index lists with them

export function summary(name: string, value: unknown): Summary {
  const what = `The entry of ${name} in the index`;
  const fields = object(value, what);
  const folder = text(fields.get("folder") ?? "", what);
  return {
    name,
    version: text(fields.get("version"), what),
    title: text(fields.get("title") ?? "", what),
    model: textMap(fields.get("model"), what),
    useCases: texts(fields.get("useCases"), what).filter((path) => path !== OPTIONS).map((path) => joinedPath(folder, path)),
    needs: texts(fields.get("needs"), what),
    kind: text(fields.get("kind") ?? "", what),
  };
}

function joinedPath(folder: string, path: string): string {
  return folder ? `${folder}/${path}` : path;
}

/** Returns the words of a text as they are compared: `FP32-train` has `fp32` and `train`. */
export function words(from: string): string[] {
  return from.toLowerCase().match(WORD) ?? [];
}

/** What is asked for: words that begin words of a package, facts of its model, and parts of the paths of its use cases. */
export interface Query {
  readonly words: readonly string[];
  readonly facts: ReadonlyMap<string, string>;
  readonly parts: readonly string[];
  /** What its use cases need; empty asks for nothing. */
  readonly need: string;
}

export function matches(each: Summary, query: Query): boolean {
  const own = words([each.name, each.title, ...each.model.values(), ...each.useCases].join(" "));
  return (
    query.words.every((start) => own.some((word) => word.startsWith(start))) &&
    [...query.facts].every(([key, value]) => each.model.get(key) === value) &&
    (!query.need || each.needs.includes(query.need)) &&
    (!query.parts.length || each.useCases.some((path) => query.parts.every((part) => hasPart(path, part))))
  );
}

export function hasPart(path: string, part: string): boolean {
  return path.split("/").includes(part);
}

export interface Listing {
  /** Parts of the list: many only if there are many packages. */
  readonly parts: readonly Part[];
}

export interface Part {
  readonly last: string;
  /** Equal parts have equal digests. */
  readonly digest: string;
  read(): Promise<readonly Summary[]>;
}

export async function listing(root: Node, read: ReadNode): Promise<Listing> {
  return { parts: (await leaves(root, read)).map(part) };
}

function part(leaf: Leaf): Part {
  let known: Promise<readonly Summary[]> | undefined;
  const read = async (): Promise<readonly Summary[]> => {
    const node = await leaf.read();
    return node.keys.map((name, place) => summary(name, node.values[place]));
  };
  return {
    last: leaf.last,
    digest: leaf.digest,
    read() {
      known ??= read();
      known.catch(() => (known = undefined));
      return known;
    },
  };
}

export interface Found {
  readonly packages: readonly Summary[];
  readonly searched: number;
  readonly of: number;
}

/** Yields what is found so far, again and again as parts are read; where names begin so is read first. */
export async function* search({ parts }: Listing, query: Query, enough: number): AsyncGenerator<Found> {
  const order = likely(parts, query.words[0] ?? "");
  const found = new Map<Part, readonly Summary[]>();
  const all = (): Summary[] => parts.flatMap((each) => found.get(each) ?? []);
  for (let at = 0; at < order.length; ) {
    const next = order.slice(at, at + (at ? AT_ONCE : 1));
    const read = await Promise.all(next.map((each) => each.read()));
    next.forEach((each, place) => found.set(each, (read[place] ?? []).filter((item) => !item.kind && matches(item, query))));
    at += next.length;
    const packages = all();
    yield { packages, searched: at, of: order.length };
    if (packages.length >= enough) return;
  }
  if (!order.length) yield { packages: [], searched: 0, of: 0 };
}

/** The part in which names begin so comes first, the others in their order. */
function likely(parts: readonly Part[], start: string): Part[] {
  const place = Math.min(bisect(parts.map((each) => each.last), start), parts.length - 1);
  return start && parts.length > 1 ? [...parts.slice(place), ...parts.slice(0, place)] : [...parts];
}

export interface Facet {
  readonly key: string;
  readonly values: readonly (readonly [string, number])[];
}

/** Counts the values of the facts that packages have, the most frequent first. */
export function facets(packages: readonly Summary[], keys: readonly string[]): Facet[] {
  return keys.map((key) => ({ key, values: counted(packages.flatMap((each) => each.model.get(key) ?? [])) }));
}

export function counted(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

