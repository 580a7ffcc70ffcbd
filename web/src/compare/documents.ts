// The documents of two folders, paired: the same object in the same file, in another file, and one with another name.

import { findBindings } from "../model/fields";
import { find, mapping, text, type Node } from "../model/node";
import { Reader } from "../model/values";
import { checkKeys, parseText } from "../model/yaml";
import { StrictReader } from "./strict";

/** One document of a file: what says which object it is, if it is one, and the setters of its fields. */
export interface ComparedDocument {
  readonly file: string;
  readonly root: Node;
  readonly reader: StrictReader;
  /** Group, kind, namespace and name; empty for what is no object. */
  readonly identity: readonly string[];
  /** The names in setter comments, by the node that each binds. */
  readonly setters: ReadonlyMap<Node, string>;
}

/** Read the documents of a file, all of whose values `kustomize build` can read; throws `InputError` for others. */
export function documentsIn(data: string, file: string): ComparedDocument[] {
  const parsed = parseText(data, file);
  for (const { root } of parsed) checkKeys(root);
  return parsed.flatMap(({ root }) => {
    if (!root) return [];
    const reader = new StrictReader(new Reader(root));
    reader.value(root);
    const setters = new Map(findBindings(root).map(({ node, reference }): [Node, string] => [node, reference.name]));
    return [{ file, root, reader, identity: identityOf(root), setters }];
  });
}

/** The object by kind and name; what is none has its file's name. */
export function titleOf({ identity, file }: ComparedDocument): string {
  return identity.length > 0 ? `${identity[1]} ${identity[3]}` : file.slice(file.lastIndexOf("/") + 1);
}

function identityOf(root: Node): string[] {
  const name = find(root, "metadata", "name");
  if (name?.kind !== "scalar") return [];
  const version = text(root, "apiVersion");
  const group = version.slice(0, Math.max(0, version.lastIndexOf("/")));
  return [group, text(root, "kind"), text(mapping(root, "metadata"), "namespace"), name.value];
}

type Pair = readonly [ComparedDocument | undefined, ComparedDocument | undefined];

const KEYS: readonly ((each: ComparedDocument) => unknown)[] = [
  ({ file, identity }) => [file, identity],
  ({ file, identity }) => (identity.length > 0 ? identity : file),
  ({ file, identity }) => [file, identity.slice(0, 2)],
];

export function paired(before: readonly ComparedDocument[], after: readonly ComparedDocument[]): Pair[] {
  let [old, next] = [before, after];
  const pairs: Pair[] = [];
  for (const key of KEYS) {
    const waiting = new Map<string, ComparedDocument[]>();
    for (const each of next) push(waiting, JSON.stringify(key(each)), each);
    const left = old.filter((each) => {
      const same = waiting.get(JSON.stringify(key(each)))?.shift();
      if (same) pairs.push([each, same]);
      return !same;
    });
    [old, next] = [left, [...waiting.values()].flat()];
  }
  return [...pairs, ...old.map((each): Pair => [each, undefined]), ...next.map((each): Pair => [undefined, each])];
}

function push<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const known = lists.get(key);
  if (known) known.push(item);
  else lists.set(key, [item]);
}
