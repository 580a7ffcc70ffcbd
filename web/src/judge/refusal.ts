// Why a definition refuses a value, for those who set it: what it takes, and the command to type.
//
//     A takes a whole number from 1 to 8, not '9' (for example: packyard set pkg A=4)
//
// The words are those of `packyard set`.

import { describe, textOfValue } from "./describe";
import { isNumber } from "./exact";
import { listedBy, wordsOf } from "./patterns";
import { fault, isWellFormed } from "./regexp";
import { hasValue, isList, itemsOf, typesOf, type Schema, type Setter } from "./setter";
import { isMisread, isTooLarge, refuses, wholeNumber } from "./stricter";
import { admits, unfit } from "./value";
import { joined, lengthOf, numberText, shellQuoted, shown } from "./words";

/** What is wrong with a value, and what to do next. */
export interface Problem {
  readonly message: string;
  readonly hint: string;
  /** The value that was probably meant; empty where that is not known. */
  readonly meant: readonly string[];
}

const MOST_ITEMS = 10; // shown in a message
const MOST_LETTERS = 5; // named in a message
const LONGEST_NAME = 256;
const LARGEST = (1n << 63n) - 1n; // whole number of 64 bits

/** Whether a definition refuses a value, or the items of a list. */
export function isRefused(setter: Setter, texts: readonly string[]): boolean {
  return !admits(setter, texts) || refuses(setter, texts);
}

/** Say why a definition refuses a value, or the items of a list; an empty text where it admits them. */
export function refusal(setter: Setter, texts: readonly string[]): string {
  return isRefused(setter, texts) ? say(setter, texts) : "";
}

/**
 * Why a definition refuses a value, or undefined where it admits it; `where` is the folder of the command to type.
 * `shipped` is the value that the setter can be taken back to, if there is one.
 */
export function explain(setter: Setter, texts: readonly string[], where: string, shipped = false): Problem | undefined {
  if (!isRefused(setter, texts)) return undefined;
  const isBroken = faultsOfKeywords(setter.schema).length > 0;
  const meant = isBroken ? [] : meantBy(setter, texts);
  return { message: say(setter, texts), hint: isBroken ? "fix its definition" : hintFor(setter, texts, meant, where, shipped), meant };
}

function say(setter: Setter, texts: readonly string[]): string {
  const [broken] = faultsOfKeywords(setter.schema);
  if (broken !== undefined) return `${setter.name} takes no value: ${broken}`;
  const given = texts.slice(0, MOST_ITEMS).map((text) => shown(text, true));
  if (!texts.every(isWellFormed)) return `${setter.name} takes text in UTF-8, not ${given.join(", ")}`;
  const isEmpty = texts.every((text) => text === "");
  if (isEmpty && !(texts.length > 0 && isList(setter))) return `${setter.name} needs a value: ${describe(setter)}`;
  const rest = texts.length > MOST_ITEMS ? ["…"] : [];
  const wrong = wrongLetters(setter, texts);
  const takes = describe(setter, texts, wrong === "");
  return `${setter.name} takes ${takes}${formOf(setter, texts)}, not ${[...given, ...rest].join(", ")}${wrong}`;
}

/** Say which rule of numbers a value breaks that its definition does not state. */
function formOf(setter: Setter, texts: readonly string[]): string {
  if (admits(setter, texts)) return isMisread(setter, texts) ? " in decimal digits" : "";
  const isLarge = texts.some(isTooLarge) && (setter.schema.get("maximum") ?? null) === null;
  return isLarge && typesOf(setter.schema).includes("integer") ? ` of at most ${LARGEST}` : "";
}

/** Name the characters of a value that its definition admits nowhere: `, which has 'M' and '_'`. */
function wrongLetters(setter: Setter, texts: readonly string[]): string {
  const letters = isList(setter) || setter.enumValues.size > 0 ? "" : (wordsOf(setter.schema)?.letters ?? "");
  if (letters === "") return "";
  const admitted = new RegExp(letters, "u");
  const wrong = [...new Set(texts.join(""))].filter((letter) => !admitted.test(letter)).slice(0, MOST_LETTERS);
  const named = wrong.map((letter) => (letter === " " ? "a blank" : shown(letter, true)));
  return named.length > 0 ? `, which has ${joined(named, "and")}` : "";
}

/** What to type instead: the value that was probably meant, an example, or how to take a value back. */
function hintFor(setter: Setter, texts: readonly string[], meant: readonly string[], where: string, shipped: boolean): string {
  const begin = `packyard set ${folderOf(where)}`;
  const isEmpty = texts.every((text) => text === "");
  if (isEmpty && (setter.required || setter.default !== undefined ? hasValue(setter) : shipped)) {
    return `to go back to the shipped value: ${begin} --unset ${setter.name}`;
  }
  if (meant.length === 0) return command(setter, where);
  return `did you mean: ${begin} ${meant.map((text) => `${setter.name}=${shellQuoted(text)}`).join(" ")}`;
}

function meantBy(setter: Setter, texts: readonly string[]): readonly string[] {
  const candidates = [texts.map((text) => wholeNumber(text) || text), texts.map(hostOf), texts.map(asName)];
  const isOther = (meant: readonly string[]): boolean =>
    meant.some((text) => text !== "") && meant.some((text, place) => text !== texts[place]);
  return candidates.find((meant) => isOther(meant) && !isRefused(setter, meant)) ?? [];
}

/** The host of an address, `10.0.0.5` of `http://10.0.0.5/x`; an empty text of others. */
function hostOf(text: string): string {
  const [scheme = "", ...rest] = text.split("://");
  return rest.length > 0 && /^[\p{L}\p{N}]+$/u.test(scheme) && lengthOf(text) < LONGEST_NAME
    ? (rest.join("://").split("/")[0] ?? "")
    : "";
}

/** The name that is nearest to a text, `my-run` for `My_Run`; an empty text where it has no letter. */
function asName(text: string): string {
  if (lengthOf(text) >= LONGEST_NAME || text.includes("://")) return "";
  const name = text.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return /[a-z]/.test(name) ? name : "";
}

function folderOf(where: string): string {
  return shellQuoted(where.replace(/\/+$/, "") || ".");
}

/** What to type, with the definition's example where it has one that it admits. */
export function command(setter: Setter, where: string): string {
  const example = exampleOf(setter);
  return example === undefined
    ? `packyard explain ${folderOf(where)} ${setter.name} shows its definition`
    : `for example: packyard set ${folderOf(where)} ${setter.name}=${shellQuoted(example)}`;
}

/** A value that a definition admits, the author's own before those that its keywords name. */
export function exampleOf(setter: Setter): string | undefined {
  if (isList(setter)) return undefined;
  const { schema } = setter;
  const choices = schema.get("enum");
  const candidates = [
    setter.example, setter.default, setter.value, wordsOf(schema)?.example,
    ...setter.enumValues.keys(), ...listedBy(schema),
    ...(Array.isArray(choices) ? choices.map(textOfValue) : []),
    ...["minimum", "maximum"].filter((key) => schema.has(key)).map((key) => textOfValue(schema.get(key) ?? null)),
  ];
  return candidates.find((example) => example !== undefined && example !== "" && !isRefused(setter, [example]));
}

/** What is wrong with the keywords of a definition; no value can be judged by them. */
export function faultsOfKeywords(schema: Schema): string[] {
  const wrong = [schema, itemsOf(schema)].flatMap((keywords) => {
    const step = keywords.get("multipleOf");
    const pattern = keywords.get("pattern");
    const broken = typeof pattern === "string" ? fault(pattern) : "";
    return [
      ...(isNumber(step) && step <= 0 ? [`multipleOf must be more than 0, found ${numberText(step)}`] : []),
      ...(broken === "" ? [] : [`the pattern ${shown(String(pattern), true)} is invalid: ${broken}`]),
    ];
  });
  return [...unfit(schema), ...wrong];
}
