// The nodes of a YAML text, each with its span and the comments that belong to it, as packyard places them:
//
//     # head of the entry          <- Child.head
//     key: value  # behind         <- node.comment
//     list:       # behind a key   <- Child.comment, where a block collection follows
//       - value
//
// Spans are positions in the text of their source; lines and columns count from 1, columns in characters.

import { InputError } from "../errors";
import { lengthOf } from "../judge/words";

export interface Source {
  readonly name: string;
  readonly text: string;
  /** The positions where lines begin. */
  readonly lines: readonly number[];
}

export interface Comment {
  readonly text: string;
  readonly start: number;
  readonly column: number;
  readonly isOwnLine: boolean;
}

interface Base {
  readonly source: Source;
  readonly start: number;
  end: number;
  comment: Comment | undefined;
  readonly tag: string | undefined;
  readonly anchor: string | undefined;
}

export interface Scalar extends Base {
  readonly kind: "scalar";
  readonly value: string;
  readonly style: "plain" | "'" | '"' | "|" | ">";
}

export interface Alias extends Base {
  readonly kind: "alias";
  readonly name: string;
}

export interface Mapping extends Base {
  readonly kind: "mapping";
  readonly flow: boolean;
  readonly children: Child[];
}

export interface Sequence extends Base {
  readonly kind: "sequence";
  readonly flow: boolean;
  readonly children: Child[];
}

export type Node = Scalar | Alias | Mapping | Sequence;

/** An entry of a mapping (with a key) or an item of a sequence. */
export interface Child {
  readonly key: Node | undefined;
  value: Node;
  readonly start: number;
  readonly index: number;
  readonly head: Comment[];
  readonly foot: Comment[];
  comment: Comment | undefined;
}

export interface Document {
  readonly source: Source;
  readonly root: Node | undefined;
}

export function sourceOf(name: string, text: string): Source {
  const lines = [0];
  for (const match of text.matchAll(/\r\n?|\n/g)) lines.push(match.index + match[0].length);
  return { name, text, lines };
}

/** The line of a position, counted from 1. */
export function lineOf(source: Source, position: number): number {
  let low = 0;
  let high = source.lines.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((source.lines[middle] ?? 0) <= position) low = middle;
    else high = middle;
  }
  return low + 1;
}

export function lineStart(source: Source, position: number): number {
  return source.lines[lineOf(source, position) - 1] ?? 0;
}

/** Line and column of a position. */
export function locate(source: Source, position: number): { line: number; column: number } {
  const start = lineStart(source, position);
  return { line: lineOf(source, position), column: lengthOf(source.text.slice(start, position)) + 1 };
}

/** The text of a node as it is written. */
export function lexeme(node: Node): string {
  return node.source.text.slice(node.start, node.end);
}

/** What is wrong with a node, by its place. */
export function problem(node: Node, message: string): InputError {
  const { line, column } = locate(node.source, node.start);
  return new InputError(`${node.source.name}:${line}:${column}: ${message}`);
}

/** The key as text; an empty text for a key that is a mapping, a list or an alias. */
export function nameOf(child: Child): string {
  return child.key?.kind === "scalar" ? child.key.value : "";
}

export function entry(node: Node | undefined, name: string): Child | undefined {
  return node?.kind === "mapping" ? node.children.find((child) => child.key?.kind === "scalar" && child.key.value === name) : undefined;
}

/** Follow keys down through mappings; undefined where one is missing or is something else. */
export function find(node: Node | undefined, ...names: string[]): Node | undefined {
  return names.reduce((found: Node | undefined, name) => entry(found, name)?.value, node);
}

export function mapping(node: Node | undefined, ...names: string[]): Mapping | undefined {
  const found = find(node, ...names);
  return found?.kind === "mapping" ? found : undefined;
}

/** The text of the scalar under a key, or an empty text. */
export function text(node: Node | undefined, name: string): string {
  const found = find(node, name);
  return found?.kind === "scalar" ? found.value : "";
}

/** What is in a list; nothing where it is something else. */
export function items(node: Node | undefined): Node[] {
  return node?.kind === "sequence" ? node.children.map((child) => child.value) : [];
}
