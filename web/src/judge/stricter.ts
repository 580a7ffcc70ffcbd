// What packyard refuses of a value beyond what kustomize 3.8.7 refuses: a value that is emptied is checked like any
// other, and numbers are decimal (some readers of YAML take 010 for 8, others for 10, others for a text).

import { wholeOf } from "./exact";
import { formatAdmits } from "./formats";
import { isNumberText, isWhole, WHOLE } from "./scalar";
import { isList, itemsOf, typesOf, type Schema, type Setter } from "./setter";
import { admitsLetters } from "./value";

const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const OTHER_BASE = /^(-?)(0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+))$/;
const BOUNDS = ["minimum", "maximum", "multipleOf"];
const MOST_DIGITS = 19; // of a number of 64 bits
const LONGEST = 40; // characters of what may have been meant for a number

/** Whether packyard refuses a value that kustomize admits. */
export function refuses(setter: Setter, texts: readonly string[]): boolean {
  return isEmptiedWrongly(setter, texts) || isMisread(setter, texts);
}

function isEmptiedWrongly(setter: Setter, texts: readonly string[]): boolean {
  if (texts.some((text) => text !== "") || setter.enumValues.size > 0) return false;
  if (setter.required) return true;
  if (isList(setter) || setter.schema.get("nullable") === true) return false;
  return isNeeded(setter.schema);
}

/** Whether a definition has something against an empty text. */
function isNeeded(schema: Schema): boolean {
  if (BOUNDS.some((key) => schema.has(key)) || !admitsLetters(schema, "")) return true;
  const form = schema.get("format");
  return typeof form === "string" && !formatAdmits(form, "");
}

/** Whether a value is a number in another form than decimal digits. */
export function isMisread(setter: Setter, texts: readonly string[]): boolean {
  if (setter.enumValues.size > 0) return false;
  const form = formOf(isList(setter) ? itemsOf(setter.schema) : setter.schema);
  return form !== undefined && texts.some((text) => isNumberText(text) && !form.test(text));
}

function formOf(schema: Schema): RegExp | undefined {
  const types = typesOf(schema);
  if (types.length === 1 && types[0] === "integer") return WHOLE;
  if (types.includes("string")) return undefined;
  const isBounded = types.length === 0 && BOUNDS.some((key) => schema.has(key));
  return types.includes("number") || types.includes("integer") || isBounded ? DECIMAL : undefined;
}

/** Whether a text is a whole number that no field of Kubernetes can hold. */
export function isTooLarge(text: string): boolean {
  return isWhole(text) && text.replace("-", "").length >= MOST_DIGITS;
}

/** The whole number that a text was probably meant to be, in decimal digits; an empty text for others. */
export function wholeNumber(text: string): string {
  const digits = text.trim().replaceAll("_", "").replaceAll(",", "").replace(/^\+/, "");
  if (digits.length > LONGEST) return "";
  const [, sign, other] = OTHER_BASE.exec(digits) ?? [];
  if (other !== undefined) return `${sign === "-" && BigInt(other) !== 0n ? "-" : ""}${BigInt(other)}`;
  const found = wholeOf(digits, MOST_DIGITS);
  return found === undefined ? "" : String(found);
}
