// What differs between two YAML documents, field by field. Items of a list are told apart by the key by which Kubernetes
// merges them, or by their names; other lists are aligned, so that an item in their middle is one difference.

import type { Value } from "../judge/scalar";
import type { FieldTypes, Step } from "../model/fieldtypes";
import { entry, find, nameOf, text, type Mapping, type Node, type Sequence } from "../model/node";
import { stretches, type Stretch } from "./aligned";
import type { Change } from "./change";
import type { ComparedDocument } from "./documents";
import { canonical } from "./json";
import { findPods } from "./pods";

export type FieldDifference = Pick<Change, "path" | "change" | "before" | "after" | "setter">;

type Side = { readonly node: Node } | undefined;
type Pair = readonly [string, Side, Side];
type Kind = readonly [string, string];

const MOST_WORK = 20_000_000; // steps that aligning the lists of one document may take
const POD: Kind = ["v1", "Pod"];

/** Compare two documents whose values can be read. */
export function compareFields(before: ComparedDocument, after: ComparedDocument, types: FieldTypes): FieldDifference[] {
  return [...new Comparison(before, after, types).nodes(before.root, after.root, "", ["", ""], [])];
}

class Comparison {
  private left = MOST_WORK;
  private readonly told = new Map<Node, Set<Node>>();
  private readonly pods: ReadonlySet<Node>;
  private readonly setters: ReadonlyMap<Node, string>;

  constructor(private readonly before: ComparedDocument, private readonly after: ComparedDocument, private readonly types: FieldTypes) {
    const podsOf = ({ root, reader }: ComparedDocument): Mapping[] => findPods(root, (node) => reader.resolve(node));
    this.pods = new Set<Node>([...podsOf(before), ...podsOf(after)]);
    this.setters = new Map([...before.setters, ...after.setters]);
  }

  /** Compare two nodes; `steps` lead to them in an object of a kind, a pod's inside of another one's. */
  *nodes(one: Node, other: Node, path: string, above: Kind, way: readonly Step[]): Generator<FieldDifference> {
    const [old, now] = [this.before.reader.resolve(one), this.after.reader.resolve(other)];
    if (this.isTold(old, now)) return;
    let [kind, steps] = [above, way];
    if (steps.length === 0 && now.kind === "mapping") kind = [text(now, "apiVersion"), text(now, "kind")];
    if (this.pods.has(old) && this.pods.has(now)) [kind, steps] = [POD, ["spec"]];
    yield* this.binding(old, now, path);
    const pairs = yield* this.pairs(old, now, path, kind, steps);
    for (const [step, first, second] of pairs) {
      const inner = path ? `${path}${step}` : step.replace(/^\./, "");
      if (!first || !second) yield this.difference(inner, first ? "removed" : "added", first, second);
      else yield* this.nodes(first.node, second.node, inner, kind, [...steps, now.kind === "sequence" ? 0 : step.replace(/^\./, "")]);
    }
  }

  private *pairs(old: Node, now: Node, path: string, kind: Kind, steps: readonly Step[]): Generator<FieldDifference, readonly Pair[]> {
    if (old.kind === "mapping" && now.kind === "mapping") return entries(old, now);
    if (old.kind === "sequence" && now.kind === "sequence") {
      const [one, other] = this.keyed(old, now, [...this.types.mergeKeys(...kind, steps), "name"]);
      if (!one || !other) return this.aligned(old, now);
      const names = (keys: ReadonlyMap<string, Node>, others: ReadonlyMap<string, Node>): string[] => [...keys.keys()].filter((name) => others.has(name));
      const [first, second] = [names(one, other), names(other, one)];
      if (canonical(first) !== canonical(second)) yield { path, change: "reordered", before: first, after: second, setter: "" };
      return [...new Set([...one.keys(), ...other.keys()])].map((name): Pair => [`[${name}]`, side(one.get(name)), side(other.get(name))]);
    }
    if (this.text(old, this.before) !== this.text(now, this.after)) yield this.difference(path, "changed", { node: old }, { node: now });
    return [];
  }

  private isTold(old: Node, now: Node): boolean {
    const known = this.told.get(old) ?? new Set<Node>();
    this.told.set(old, known);
    const isTold = known.has(now);
    known.add(now);
    return isTold;
  }

  private difference(path: string, change: Change["change"], old: Side, now: Side): FieldDifference {
    const shown = now ? this.after.reader.resolve(now.node) : old && this.before.reader.resolve(old.node);
    const setter = (shown && this.setters.get(shown)) ?? "";
    return { path, change, before: old && this.before.reader.value(old.node), after: now && this.after.reader.value(now.node), setter };
  }

  private *binding(old: Node, now: Node, path: string): Generator<FieldDifference> {
    const [one, other] = [this.setters.get(old), this.setters.get(now)];
    if (one !== other) yield { path, change: "bound", before: one, after: other, setter: other ?? "" };
  }

  /** The items of both lists by the first key that tells them apart. */
  private keyed(old: Sequence, now: Sequence, keys: readonly string[]): [ReadonlyMap<string, Node> | undefined, ReadonlyMap<string, Node> | undefined] {
    for (const key of keys) {
      const [one, other] = [byKey(old, key, this.before), byKey(now, key, this.after)];
      if (one && other) return [one, other];
    }
    return [undefined, undefined];
  }

  /** Pair the items of two lists that have no key. */
  private aligned(old: Sequence, now: Sequence): Pair[] {
    const [one, other] = [old, now].map((node) => node.children.map((child) => child.value)) as [Node[], Node[]];
    const texts: [string[], string[]] = [one.map((node) => this.text(node, this.before)), other.map((node) => this.text(node, this.after))];
    const start = alike(...texts);
    const end = alike(texts[0].slice(start).reverse(), texts[1].slice(start).reverse());
    const middle: [string[], string[]] = [texts[0].slice(start, texts[0].length - end), texts[1].slice(start, texts[1].length - end)];
    return [
      ...inPlaces(one.slice(0, start), other.slice(0, start), 0, 0),
      ...this.stretches(...middle).flatMap(([first, last, begin, stop]) =>
        inPlaces(one.slice(start + first, start + last), other.slice(start + begin, start + stop), start + first, start + begin)),
      ...inPlaces(one.slice(one.length - end), other.slice(other.length - end), one.length - end, other.length - end),
    ];
  }

  /** Lists that would take long to align are one stretch. */
  private stretches(before: readonly string[], after: readonly string[]): readonly Stretch[] {
    const work = before.length * after.length * Math.min(before.length, after.length);
    if (work > this.left) return [[0, before.length, 0, after.length]];
    this.left -= work;
    return stretches(before, after);
  }

  private text(node: Node, document: ComparedDocument): string {
    const value: Value = document.reader.value(node);
    return canonical(value);
  }
}

function side(node: Node | undefined): Side {
  return node && { node };
}

/** With how many items alike two lists begin. */
function alike(one: readonly string[], other: readonly string[]): number {
  let place = 0;
  while (place < Math.min(one.length, other.length) && one[place] === other[place]) place += 1;
  return place;
}

/** Pair two stretches item by item; what one of them has more is removed, or added. */
function inPlaces(old: readonly Node[], now: readonly Node[], start: number, begin: number): Pair[] {
  return Array.from({ length: Math.max(old.length, now.length) }, (_, place): Pair => {
    const other = now[place];
    return [`[${(other ? begin : start) + place}]`, side(old[place]), side(other)];
  });
}

function entries(old: Mapping, now: Mapping): Pair[] {
  return [
    ...old.children.map((child): Pair => [stepOf(nameOf(child)), { node: child.value }, side(entry(now, nameOf(child))?.value)]),
    ...now.children.filter((child) => !entry(old, nameOf(child))).map((child): Pair => [stepOf(nameOf(child)), undefined, { node: child.value }]),
  ];
}

function stepOf(name: string): string {
  return name.includes(".") || name.includes("[") ? `[${name}]` : `.${name}`;
}

/** The items of a list by the text of a key; undefined where they have none, or share one. */
function byKey(node: Sequence, key: string, { reader }: ComparedDocument): ReadonlyMap<string, Node> | undefined {
  const found = new Map<string, Node>();
  for (const child of node.children) {
    const item = reader.resolve(child.value);
    const value = find(item, key);
    const name = value && reader.resolve(value);
    if (name?.kind !== "scalar" || found.has(name.value)) return undefined;
    found.set(name.value, item);
  }
  return found;
}
