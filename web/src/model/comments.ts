// Which node each comment of a text belongs to: to what stands before it on its line, or to what follows it. The same
// rules as packyard's core/yaml/comments.py.

import { lineStart, type Child, type Comment, type Node, type Source } from "./node";

/** What a comment can stand behind or above: a scalar, an alias, a bracket. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly node: Node | undefined;
  /** The entry whose key this is. */
  readonly entry: Child | undefined;
  /** The entries and items that begin here, outermost first. */
  readonly children: readonly Child[];
  /** The innermost child that began here or before. */
  readonly owner: Child | undefined;
}

const BREAK = /[\n\r\x85\u2028\u2029]/;

/** Give all comments to their nodes. */
export function placeComments(source: Source, tokens: readonly Token[]): void {
  let before: Token | undefined;
  for (const after of [...tokens, undefined]) {
    for (const comment of between(source, before?.end ?? 0, after?.start ?? source.text.length)) {
      if (comment.isOwnLine || !before || !belongsBefore(source.text, before, comment)) giveToNext(source, before, after, comment);
    }
    before = after;
  }
}

/** The comments of a stretch of text between two tokens. */
function* between(source: Source, position: number, limit: number): Generator<Comment> {
  const { text } = source;
  for (let start = text.indexOf("#", position); start >= 0 && start < limit; start = text.indexOf("#", position)) {
    position = start + 1;
    if (start > 0 && !/[ \t\ufeff\n\r\x85\u2028\u2029]/.test(text.charAt(start - 1))) continue; // part of a tag
    while (position < limit && !BREAK.test(text.charAt(position))) position += 1;
    const begin = lineStart(source, start);
    const isOwnLine = text.slice(begin, start).trim() === "";
    yield { text: text.slice(start, position).replace(/[ \t]+$/, ""), start, column: start - begin, isOwnLine };
  }
}

/** Give a comment to the token that stands before it on its line, if one does. */
function belongsBefore(text: string, before: Token, comment: Comment): boolean {
  const gap = text.slice(before.end, comment.start);
  if (BREAK.test(gap)) return false;
  if (before.entry) {
    if (gap.includes(":")) before.entry.comment = comment;
    return gap.includes(":");
  }
  if (!before.node || before.node.comment) return false;
  if (before.node.kind === "scalar" && (before.node.style === "|" || before.node.style === ">")) return false;
  before.node.comment = comment;
  return true;
}

/** Give a comment to what follows, or to what ended where it is indented deeper than what follows. */
function giveToNext(source: Source, before: Token | undefined, after: Token | undefined, comment: Comment): void {
  const child = after?.children[0];
  if (child) {
    if (comment.column <= columnOf(source, child) || !before?.owner) {
      child.head.push(comment);
      return;
    }
  } else if (after?.node?.kind === "scalar" && !after.entry && !after.node.comment) {
    after.node.comment = comment; // between a key and its value on the next line
    return;
  }
  before?.owner?.foot.push(comment);
}

/** The column of an entry's key, or of an item's dash. */
function columnOf(source: Source, child: Child): number {
  const begin = lineStart(source, child.start);
  const dash = child.key ? -1 : source.text.slice(begin, child.start).lastIndexOf("-");
  return dash >= 0 ? dash : child.start - begin;
}
