/** The sorted maps of an index: immutable nodes, each checked against the entry that refers to it. */
import { IntegrityError } from "../errors";
import { checkDigest, DIGEST } from "./digest";
import { byCodePoint, document, object, size, text, type Fields } from "./json";
import type { Bytes, Source } from "./source";

const LIMIT = 98 * 1024; // bytes of a node's file
const LEVELS = 32;

export interface Node {
  readonly level: number;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

export type ReadNode = (digest: string) => Promise<Node>;

/** Returns what reads nodes and records, each once. */
export function nodesOf(source: Source): { node: ReadNode; get(digest: string, limit: number): Promise<Bytes> } {
  const nodes = new Map<string, Promise<Node>>();
  const get = async (digest: string, limit: number): Promise<Bytes> => {
    if (!DIGEST.test(digest)) throw new IntegrityError("The index names something that is no digest.");
    const data = await source.get(`index/nodes/${digest.slice(7, 9)}/${digest.slice(9)}.json`, limit);
    await checkDigest(data, digest, "A part of the index");
    return data;
  };
  const read = async (digest: string): Promise<Node> => nodeOf(document(await get(digest, LIMIT), "IndexNode", "A node of the index"));
  const node: ReadNode = (digest) => {
    const known = nodes.get(digest) ?? read(digest);
    nodes.set(digest, known);
    known.catch(() => nodes.delete(digest)); // what failed once may be asked for again
    return known;
  };
  return { node, get };
}

export function nodeOf(fields: Fields): Node {
  const level = size(fields.get("level"), "the level of a node");
  if (level >= LEVELS) throw new IntegrityError("A node of the index has too many levels.");
  // JSON.parse puts keys such as "10" first, whatever their order was.
  const entries = [...object(fields.get("entries"), "the entries of a node")].sort(([a], [b]) => byCodePoint(a, b));
  if (entries[0]?.[0] === "") throw new IntegrityError("A node of the index has an empty key.");
  return { level, keys: entries.map(([key]) => key), values: entries.map(([, value]) => value) };
}

async function child(node: Node, place: number, after: string, read: ReadNode): Promise<Node> {
  const found = await read(text(node.values[place], "the digest of a node"));
  const [low, high] = [before(node, place, after), node.keys[place]];
  const isRight = found.level === node.level - 1 && found.keys.length && byCodePoint(found.keys[0] ?? "", low) > 0;
  if (!isRight || found.keys.at(-1) !== high) throw new IntegrityError("A node of the index belongs elsewhere.");
  return found;
}

function before(node: Node, place: number, after: string): string {
  return place ? (node.keys[place - 1] ?? "") : after;
}

/** Returns the first place whose key is not less. */
export function bisect(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byCodePoint(keys[middle] ?? "", key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the value of a key, or undefined. */
export async function get(root: Node, key: string, read: ReadNode): Promise<unknown> {
  let [node, after] = [root, ""];
  for (;;) {
    const place = bisect(node.keys, key);
    if (place === node.keys.length) return undefined;
    if (!node.level) return node.keys[place] === key ? node.values[place] : undefined;
    [node, after] = [await child(node, place, after, read), before(node, place, after)];
  }
}

/** A node of the lowest level that is not read yet: its keys lie behind `after`, and end with `last`. */
export interface Leaf {
  readonly after: string;
  readonly last: string;
  /** Equal nodes have equal digests; empty for a root. */
  readonly digest: string;
  read(): Promise<Node>;
}

/** Returns the lowest nodes in order; those above them are read now. */
export async function leaves(root: Node, read: ReadNode, after = ""): Promise<Leaf[]> {
  if (!root.level) return root.keys.length ? [{ after, last: root.keys.at(-1) ?? "", digest: "", read: async () => root }] : [];
  if (root.level === 1) {
    return root.keys.map((last, place) => ({
      after: before(root, place, after),
      last,
      digest: String(root.values[place]),
      read: () => child(root, place, after, read),
    }));
  }
  const below = await Promise.all(root.keys.map((_, place) => child(root, place, after, read)));
  const lists = await Promise.all(below.map((node, place) => leaves(node, read, before(root, place, after))));
  return lists.flat();
}
