// Patterns of definitions in words, for people who set values.
//
//     '^[a-z]([-a-z0-9]*[a-z0-9])?$'   lower-case letters, digits and '-', beginning with a lower-case letter
//
// Those of packyard's catalogue that are more than letters have a sentence each, the same as in packyard's
// using/setters/patterns.py. Any other definition says it by its `title`.

import type { Schema } from "./setter";
import { joined } from "./words";

export type Kind = "whole number" | "number" | "quantity" | "path" | "text" | "choice" | "list";

/**
 * What a pattern admits: its kind, what follows "takes", and how it ends where only the letters are told. `letters`
 * is an expression for each character that the pattern admits anywhere, if that is known.
 */
export interface Words {
  readonly kind: Kind;
  readonly takes: string;
  readonly ends: string;
  readonly letters: string;
  readonly example: string;
}

function sentence(kind: Kind, takes: string, example = ""): Words {
  return { kind, takes, ends: "", letters: "", example };
}

const SENTENCES: ReadonlyMap<string, Words> = new Map([
  ["[1-9][0-9]*", sentence("whole number", "a whole number of at least 1")],
  ["(0|[1-9][0-9]*)", sentence("whole number", "a whole number of at least 0")],
  ["[0-9]+", sentence("whole number", "a whole number of at least 0")],
  ["[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?", sentence("quantity", "an amount with its unit, such as 200Gi or 500M", "200Gi")],
  ["[1-9][0-9]*(Mi|Gi|Ti)", sentence("quantity", "a whole number of Mi, Gi or Ti, such as 32Gi", "32Gi")],
  ["[1-9][0-9]*(\\.[0-9]+)?(Mi|Gi)", sentence("quantity", "a number of Mi or Gi, such as 24Gi", "24Gi")],
  ["[0-9]+(\\.[0-9]+|m)?", sentence("quantity", "a number of CPUs, such as 2, 0.5 or 500m", "2")],
  ["(0(\\.[0-9]+)?|1(\\.0+)?)", sentence("number", "a number from 0 to 1, such as 0.5", "0.5")],
  ["[0-9]+(\\.[0-9]+)?([eE]-?[0-9]+)?", sentence("number", "a number, such as 0.01 or 1e-4", "0.01")],
  ["([1-9][0-9]*(\\.[0-9]+)?|0\\.0*[1-9][0-9]*)([eE]-?[0-9]+)?", sentence("number", "a number of more than 0, such as 0.001 or 1e-4", "0.001")],
  ["/[^ ]*", sentence("path", "a path that begins with '/', without blanks", "/data")],
  ["(/[^/ ]+)+", sentence("path", "a path that begins with '/', without blanks and without '/' at its end", "/data")],
  ["(/[A-Za-z0-9_.@+-]+)+", sentence("path", "a path that begins with '/', of letters, digits and _.@+-, without '/' at its end", "/data")],
  ["[^/ ][^ ]*", sentence("path", "a path that does not begin with '/', without blanks", "data")],
  ["[A-Za-z0-9_][A-Za-z0-9_.@+-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*", sentence("path", "a path that does not begin with '/', of letters, digits and _.@+-", "data/file")],
  ["[^ ]*", sentence("text", "a text without blanks")],
  ["[A-Za-z0-9.:-]*", sentence("text", "a host name or address, without http:// and without a path")],
  ["[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*", sentence("text", "a registry: a host name, with a port or a path if it needs one, without https://", "docker.io")],
  ["([A-Za-z0-9./:_-]+:[A-Za-z0-9._-]+|[A-Za-z0-9./:_-]+@sha256:[0-9a-f]{64})", sentence("text", "an image with its tag or its digest, such as registry.example.com/train:1.0")],
  ["[a-z0-9]+([._/-]+[a-z0-9]+)*", sentence("text", "the name of an image without registry and tag: lower-case letters, digits and ._-/", "team/server")],
  ["[0-9a-fA-F.:]+/[0-9]{1,3}", sentence("text", "a range of addresses, such as 192.0.2.0/24", "192.0.2.7/32")],
  ["https?://[^ ]+", sentence("text", "a URL that begins with http:// or https://", "https://s3.amazonaws.com")],
  ["[a-z0-9+]+://[^ ]+", sentence("text", "an address with its scheme, such as s3://models/zoo", "s3://models/zoo")],
  ["(hf|s3|oci)://[^ ]+", sentence("text", "an address that begins with hf://, s3:// or oci://")],
  ["[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", sentence("text", "the name of a bucket, without s3://: 3 to 63 lower-case letters, digits, '-' and '.'")],
  ["\\[[0-9]+(,[0-9]+)*\\]", sentence("text", "whole numbers in brackets, such as [1000,2000]", "[1000,2000]")],
  ["\\[[0-9A-Za-z(),.]+\\]", sentence("text", "pairs in brackets, such as [(16,0.1),(20,None)]", "[(16,0.1)]")],
  ["[A-Z_.]+=[^ ]+", sentence("text", "NAME=VALUE without blanks, NAME in capital letters", "TRAIN.EVAL=1")],
]);

const LONGEST = 4096; // characters of a pattern
const SET = String.raw`\[((?:[^\]\\^]|\\.)(?:[^\]\\]|\\.)*)\]`;
const OPTIONAL = /^\((.*)\)\?$/;
/** Letters: a set, or a set with others behind it, which may end in a third. */
const NAME = new RegExp(String.raw`^${SET}(?:[*+]|${SET}[*+]|\(${SET}\*${SET}\)\?)$`);
const CHOICES = /^\(?([\w.-]+(?:\|[\w.-]+)+)\)?$/;
const RANGES = new Map([["a-z", "lower-case letters"], ["A-Z", "capital letters"], ["0-9", "digits"]]);
const ONE = new Map([["a-z", "a lower-case letter"], ["A-Z", "a capital letter"], ["0-9", "a digit"]]);
const ESCAPES: readonly (readonly [string, string])[] = [
  ["\\d", "0-9"], ["\\w", "A-Za-z0-9_"], ["\\.", "."], ["\\-", "-"], ["\\/", "/"],
];

/** What the pattern of a definition admits; undefined where nothing says it in words. */
export function wordsOf(schema: Schema): Words | undefined {
  const known = sentenceOf(patternOf(schema));
  const title = schema.get("title");
  if (typeof title === "string" && title.trim() !== "") return sentence(known?.kind ?? "text", title.trim());
  return known;
}

/** The texts that a pattern lists, such as `True` and `False` for `^(True|False)$`. */
export function listedBy(schema: Schema): string[] {
  return CHOICES.exec(bodyOf(patternOf(schema)))?.[1]?.split("|") ?? [];
}

function patternOf(schema: Schema): string {
  const pattern = schema.get("pattern");
  return typeof pattern === "string" && pattern.length <= LONGEST ? pattern : "";
}

/** A pattern without its anchors; one that is open at an end admits more than it says, and has no body. */
function bodyOf(pattern: string): string {
  const isClosed = pattern.startsWith("^") && pattern.endsWith("$") && !pattern.endsWith("\\$");
  return isClosed ? pattern.slice(1, -1) : "";
}

function sentenceOf(pattern: string): Words | undefined {
  const body = bodyOf(pattern);
  const inner = OPTIONAL.exec(body)?.[1]; // what may be empty besides
  for (const known of inner === undefined ? [body] : [body, `(${inner})`, inner]) {
    const found = SENTENCES.get(known) ?? ofLetters(known);
    if (found) return found;
  }
  return undefined;
}

/** The words for a pattern that only says which letters stand where. */
function ofLetters(body: string): Words | undefined {
  const sets = (NAME.exec(body)?.slice(1) ?? []).filter((part) => part).map(plain);
  const [head] = sets;
  const tail = sets[sets.length - 1];
  if (head === undefined || tail === undefined || !sets.every((set) => set !== "")) return undefined;
  const all = listed(sets.join(""));
  const isFirst = listed(head) !== all;
  const isLast = listed(tail) !== all && sets.length > 2;
  const ends = isFirst && isLast && listed(head) === listed(tail)
    ? `, beginning and ending with ${one(head)}`
    : (isFirst ? `, beginning with ${one(head)}` : "") + (isLast ? `, ending with ${one(tail)}` : "");
  return { kind: "text", takes: all, ends, letters: sets.map((letters) => `[${letters}]`).join("|"), example: "" };
}

/** A set without escapes, `-` last; an empty text for one with ranges that have no name. */
function plain(set: string): string {
  const letters = ESCAPES.reduce((text, [escape, meaning]) => text.replaceAll(escape, meaning), set);
  const spans = spansOf(letters);
  const rest = without(letters, spans);
  if (rest.includes("\\") || rest.slice(1, -1).includes("-")) return "";
  return [...spans, rest.replaceAll("-", ""), rest.includes("-") ? "-" : ""].join("");
}

function spansOf(letters: string): string[] {
  return [...RANGES.keys()].filter((span) => letters.includes(span));
}

function without(letters: string, spans: readonly string[]): string {
  return spans.reduce((text, span) => text.replaceAll(span, ""), letters);
}

/** A plain set in words: `lower-case letters, digits and '-'`. */
function listed(letters: string): string {
  return joined([...ofRanges(spansOf(letters), "letters", RANGES), ...signsOf(letters)], "and");
}

/** One of a plain set in words: `a lower-case letter, a digit or '-'`. */
function one(letters: string): string {
  return joined([...ofRanges(spansOf(letters), "a letter", ONE), ...signsOf(letters)], "or");
}

function signsOf(letters: string): string[] {
  return [...new Set(without(letters, spansOf(letters)))].sort().map((sign) => `'${sign}'`);
}

function ofRanges(spans: readonly string[], both: string, names: ReadonlyMap<string, string>): string[] {
  const isBoth = spans[0] === "a-z" && spans[1] === "A-Z";
  const rest = (isBoth ? spans.slice(2) : spans).map((span) => names.get(span) ?? span);
  return isBoth ? [both, ...rest] : rest;
}
