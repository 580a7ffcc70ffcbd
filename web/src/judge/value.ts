// Which values a definition admits: the OpenAPI keywords as kustomize 3.8.7 reads them.

import { isMultiple, isNumber, isWithin, type Num } from "./exact";
import { formatAdmits } from "./formats";
import { isWellFormed, matches, PatternError } from "./regexp";
import { scalarValue, type Plain, type Value } from "./scalar";
import { isList, itemsOf, typesOf, type Schema, type Setter } from "./setter";
import { lengthOf, numberText, shown } from "./words";

interface Keyword {
  readonly wanted: string;
  readonly fits: (value: Value) => boolean;
}

const NUMBER: Keyword = { wanted: "a number", fits: isNumber };
const COUNT: Keyword = { wanted: "a whole number", fits: (value) => typeof value === "bigint" };
const FLAG: Keyword = { wanted: "true or false", fits: (value) => typeof value === "boolean" };
const TEXT: Keyword = { wanted: "a text", fits: (value) => typeof value === "string" };
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ["maximum", NUMBER], ["minimum", NUMBER], ["multipleOf", NUMBER],
  ["maxLength", COUNT], ["minLength", COUNT], ["maxItems", COUNT], ["minItems", COUNT],
  ["exclusiveMaximum", FLAG], ["exclusiveMinimum", FLAG], ["uniqueItems", FLAG], ["nullable", FLAG],
  ["pattern", TEXT], ["format", TEXT],
  ["enum", { wanted: "a list", fits: (value: Value) => Array.isArray(value) }],
]);

/** Whether a definition admits some values: one, or for a list setter any number. */
export function admits(setter: Setter, values: readonly string[]): boolean {
  if (unfit(setter.schema).length > 0 || !values.every(isWellFormed)) return false;
  if (setter.enumValues.size > 0) return setter.enumValues.has(values[0] ?? "");
  if (!isList(setter)) return admitsOne(setter.schema, values[0] ?? "");
  const items = itemsOf(setter.schema);
  return admitsList(setter.schema, values) && values.every((value) => admitsOne(items, value));
}

/** What is wrong with keywords whose values are of another type, by their paths; no value can be judged by them. */
export function unfit(schema: Schema): string[] {
  const both: [string, Schema][] = [["", schema], ["items.", itemsOf(schema)]];
  return both.flatMap(([below, keywords]) =>
    [...KEYWORDS].flatMap(([key, { wanted, fits }]) => {
      const value = keywords.get(key);
      return value === undefined || fits(value) ? [] : [`${below}${key} must be ${wanted}, found ${kindOf(value)}`];
    }),
  );
}

function kindOf(value: Value): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Map) return "a mapping";
  if (typeof value === "string") return shown(value, true);
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : shown(numberText(value as Num));
}

/** Read the text as the type asks, a string as it is and anything else as plain YAML, and judge it. */
function admitsOne(schema: Schema, text: string): boolean {
  if (text === "" && schema.get("nullable") === true) return true;
  const types = typesOf(schema);
  const value = types.includes("string") ? text : scalarValue(text);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false;
  if (typeof value === "string" && !admitsText(schema, value)) return false;
  if ((typeof value === "bigint" || typeof value === "number") && !admitsNumber(schema, text, value)) return false;
  const choices = schema.get("enum");
  return !Array.isArray(choices) || choices.some((choice: Value) => isSame(value, choice));
}

function isOfType(value: Plain, type: string): boolean {
  switch (type) {
    case "integer":
      return typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
    case "number":
      return typeof value === "bigint" || typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    default:
      return type === "string" && typeof value === "string";
  }
}

function isSame(one: Plain, other: Value): boolean {
  const isNumeric = (value: Value): value is Num => typeof value === "bigint" || typeof value === "number";
  return one === other || (isNumeric(one) && isNumeric(other) && one == other); // eslint-disable-line eqeqeq -- 2n == 2
}

function admitsText(schema: Schema, value: string): boolean {
  const form = schema.get("format");
  return admitsLetters(schema, value) && (value === "" || typeof form !== "string" || formatAdmits(form, value));
}

/** Whether the length and the pattern of a definition admit a text, an empty one too. */
export function admitsLetters(schema: Schema, value: string): boolean {
  const longest = schema.get("maxLength");
  const shortest = schema.get("minLength");
  const pattern = schema.get("pattern");
  if (typeof longest === "bigint" && lengthOf(value) > longest) return false;
  if (typeof shortest === "bigint" && lengthOf(value) < shortest) return false;
  if (typeof pattern !== "string") return true;
  try {
    return matches(pattern, value);
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

function admitsNumber(schema: Schema, text: string, value: Num): boolean {
  const form = schema.get("format");
  if ((form === "port" || form === "uid") && !formatAdmits(form, numberText(value))) return false;
  const highest = schema.get("maximum");
  const lowest = schema.get("minimum");
  const step = schema.get("multipleOf");
  if (isNumber(highest) && !isWithin(value, text, highest, true, schema.get("exclusiveMaximum") === true)) return false;
  if (isNumber(lowest) && !isWithin(value, text, lowest, false, schema.get("exclusiveMinimum") === true)) return false;
  return !isNumber(step) || (step > 0 && isMultiple(value, text, step));
}

function admitsList(schema: Schema, values: readonly string[]): boolean {
  const most = schema.get("maxItems");
  const least = schema.get("minItems");
  if (typeof most === "bigint" && values.length > most) return false;
  if (typeof least === "bigint" && values.length < least) return false;
  return schema.get("uniqueItems") !== true || new Set(values).size === values.length;
}
