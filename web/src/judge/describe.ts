// What a definition admits, in words, and the short words of a table.

import { isNumber, LIMIT, withoutLimit, type Num } from "./exact";
import { FORMATS } from "./formats";
import { listedBy, wordsOf, type Kind } from "./patterns";
import { scalarValue, type Value } from "./scalar";
import { fullType, isList, itemsOf, typesOf, type Schema, type Setter } from "./setter";
import { lengthOf, numberText, shown } from "./words";

const WORDS = new Map([
  ["integer", "a whole number"], ["number", "a number"], ["boolean", "true or false"], ["string", "a text"],
]);
/** The kinds of values that formats stand for. */
const FORMAT_KINDS = new Map<string, Kind>([
  ["quantity", "quantity"], ["absolute-path", "path"], ["port", "whole number"], ["uid", "whole number"],
]);

/** A value as Python's `str` writes it. */
export function textOfValue(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint" || typeof value === "number") return numberText(value);
  return value === null ? "None" : Array.isArray(value) ? "a list" : "a mapping";
}

/**
 * Say what a definition admits; that Kubernetes has a limit, to those whose values are beyond it alone. Without `ends`
 * it is not said how a name has to begin and end.
 */
export function describe(setter: Setter, texts: readonly string[] = [], ends = true): string {
  if (setter.enumValues.size > 0) return oneOf([...setter.enumValues.keys()]);
  if (!isList(setter)) {
    const isBeyond = texts.some((text) => lengthOf(text) >= String(LIMIT).length);
    return describeSchema(isBeyond ? setter.schema : withoutLimit(setter.schema), ends);
  }
  const items = itemsOf(setter.schema);
  const size = range(setter.schema.get("minItems"), setter.schema.get("maxItems"), "item");
  const parts = ["a list", size && `of ${size}`, setter.schema.get("uniqueItems") === true ? "without duplicates" : ""];
  return parts.filter((part) => part !== "").join(" ") + (items.size > 0 ? `, each ${describeSchema(items, true)}` : "");
}

function describeSchema(schema: Schema, ends: boolean): string {
  const listed = listedBy(schema);
  if (listed.length > 0) return oneOf(listed);
  const choices = schema.get("enum");
  if (Array.isArray(choices) && choices.length > 0) {
    const texts = choices.map((choice: Value) => (typeof choice === "boolean" ? String(choice) : textOfValue(choice)));
    const isUnread = !typesOf(schema).includes("string") && choices.some(isReadAsOther);
    return oneOf(texts) + (isUnread ? ", which needs 'type: string' in its definition" : "");
  }
  const size = range(schema.get("minLength"), schema.get("maxLength"), "character");
  const known = wordsOf(schema);
  if (known) return known.takes + (ends ? known.ends : "") + (size && `, ${size}`);
  const words = typesOf(schema).map((type) => WORDS.get(type) ?? type).join(" or ") || "a text";
  const clauses = clausesOf(schema).map((clause) => `that ${clause}`).join(" and ");
  return [words, size && `of ${size}`, ...bounds(schema), clauses].filter((part) => part !== "").join(" ");
}

/** Whether a choice is a text such as "8", which no value equals where it is read as plain YAML. */
function isReadAsOther(choice: Value): boolean {
  return typeof choice === "string" && typeof scalarValue(choice) !== "string";
}

function oneOf(choices: readonly string[]): string {
  return `one of ${choices.map((choice) => shown(choice)).join(", ")}`;
}

function range(least: Value | undefined, most: Value | undefined, noun: string): string {
  const low = isNumber(least) ? least : undefined;
  const high = isNumber(most) ? most : undefined;
  const many = (count: Num): string => `${numberText(count)} ${noun}${Number(count) === 1 ? "" : "s"}`;
  if (high === undefined) return low !== undefined && Number(low) !== 0 ? `at least ${many(low)}` : "";
  if (low !== undefined && Number(low) === Number(high)) return many(high);
  return low !== undefined && Number(low) !== 0 ? `${numberText(low)} to ${many(high)}` : `at most ${many(high)}`;
}

function bounds(schema: Schema): string[] {
  const low = schema.get("minimum");
  const high = schema.get("maximum");
  const isAbove = schema.get("exclusiveMinimum") === true;
  const isBelow = schema.get("exclusiveMaximum") === true;
  if (isNumber(low) && isNumber(high) && !isAbove && !isBelow) return [`from ${numberText(low)} to ${numberText(high)}`];
  const parts: string[] = [];
  if (isNumber(low)) parts.push(`${isAbove ? "more than" : "of at least"} ${numberText(low)}`);
  if (isNumber(high)) {
    parts.push(`${isNumber(low) ? "and " : ""}${isBelow ? "less than" : "of at most"} ${numberText(high)}`);
  }
  return parts;
}

/** The clauses that follow "that". */
function clausesOf(schema: Schema): string[] {
  const step = schema.get("multipleOf");
  const form = schema.get("format");
  const clause = typeof form === "string" ? FORMATS.get(form)?.clause : undefined;
  return [
    ...(isNumber(step) ? [`is a multiple of ${numberText(step)}`] : []),
    ...(clause === undefined ? [] : [clause]),
    ...(typeof schema.get("pattern") === "string" ? ["has the form that its definition asks for"] : []),
  ];
}

/** The values that a definition lists, or those of its type if they are few. */
export function choicesOf(setter: Setter): string[] {
  const listed = setter.schema.get("enum");
  return [
    ...setter.enumValues.keys(),
    ...(Array.isArray(listed) ? listed.map(textOfValue) : []),
    ...(fullType(setter.type) === "boolean" ? ["true", "false"] : []),
  ];
}

/** The kind of value that a setter takes: `whole number`, `choice`, `path`, or `text`. */
export function kindOf(setter: Setter): Kind {
  if (isList(setter)) return "list";
  if (choicesOf(setter).length > 0 || listedBy(setter.schema).length > 0) return "choice";
  const declared = fullType(setter.type);
  if (declared === "integer") return "whole number";
  if (declared === "number") return "number";
  return wordsOf(setter.schema)?.kind ?? FORMAT_KINDS.get(String(setter.schema.get("format") ?? "")) ?? "text";
}

/** What the definition allows, in short: `1 to 8`, `small|large`. */
export function constraintOf(setter: Setter): string {
  const listed = choicesOf(setter);
  const choices = listed.length > 0 ? listed : listedBy(setter.schema);
  if (choices.length > 0) return choices.join("|");
  const schema = withoutLimit(setter.schema);
  const low = schema.get("minimum");
  const high = schema.get("maximum");
  const form = schema.get("format");
  const parts: string[] = [];
  if (isNumber(low) && isNumber(high)) parts.push(`${numberText(low)} to ${numberText(high)}`);
  else if (isNumber(low)) parts.push(`at least ${numberText(low)}`);
  else if (isNumber(high)) parts.push(`at most ${numberText(high)}`);
  if (typeof form === "string" && !FORMAT_KINDS.has(form)) parts.push(form);
  return parts.join(", ");
}
