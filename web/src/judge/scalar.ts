// How `kustomize cfg` reads YAML's values, and how a text is written so that every reader reads that text.
// The same table as packyard's core/yaml/values.py. Whole numbers are bigints, fractions are numbers.

/** What one scalar can be. */
export type Plain = string | bigint | number | boolean | null;

/** What a node can be. Mappings are Maps: names come from packages. */
export type Value = Plain | readonly Value[] | ReadonlyMap<string, Value>;

export type ScalarType = "null" | "boolean" | "integer" | "number" | "timestamp" | "merge" | "string";

const NULLS = new Set(["", "~", "null", "Null", "NULL"]);
const BOOLEANS = new Map([
  ["true", true], ["True", true], ["TRUE", true], ["false", false], ["False", false], ["FALSE", false],
]);
const FLOAT_NAMES = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const INT = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const TIMESTAMP =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?$/;
const DECIMAL = /^[-+]?[0-9]+$/;
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const YAML11_BOOLEAN = /^(?:[yn]|[YN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/;
const NEEDS_ESCAPES = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/u;
const ESCAPES = new Map([
  ["\0", "\\0"], ["\x07", "\\a"], ["\b", "\\b"], ["\t", "\\t"], ["\n", "\\n"], ["\v", "\\v"], ["\f", "\\f"],
  ["\r", "\\r"], ["\x1b", "\\e"], ["\x85", "\\N"], ["\u2028", "\\L"], ["\u2029", "\\P"], ['"', '\\"'], ["\\", "\\\\"],
]);
const LOWEST = -(1n << 63n);

/** What kustomize takes plain text for. */
export function implicitType(text: string): ScalarType {
  if (NULLS.has(text)) return "null";
  if (BOOLEANS.has(text)) return "boolean";
  if (text === "<<") return "merge";
  if (FLOAT_NAMES.test(text)) return "number";
  if (!/^[-+.0-9]/.test(text)) return "string";
  const digits = text.startsWith("._") ? text : text.replaceAll("_", "");
  if (INT.test(digits)) return "integer";
  if (FLOAT.test(digits)) return "number";
  return TIMESTAMP.test(text) ? "timestamp" : "string";
}

/** What plain text is read as. */
export function scalarValue(text: string): Plain {
  const kind = implicitType(text);
  if (kind === "integer") return integer(text);
  if (kind === "number") return decimal(text);
  return kind === "null" ? null : (BOOLEANS.get(text) ?? text);
}

/** What whole numbers are read as: beyond 64 bits decimal ones are inexact, others stay text. */
function integer(text: string): bigint | number | string {
  const digits = text.replaceAll("_", "");
  const body = digits.replace(/^[-+]+/, "").toLowerCase();
  const base = /^0[xob]/.exec(body)?.[0] ?? (body.startsWith("0") ? "0o" : "");
  const number = readDigits(base ? body.replace(/^0[xob]/, "") : body, base);
  if (number !== undefined) {
    const signed = digits.startsWith("-") ? -number : number;
    if (signed >= LOWEST && signed < -LOWEST) return signed;
    if (!/^[-+]/.test(digits) && signed < 1n << 64n) return signed;
  }
  return DECIMAL.test(digits) ? decimal(text) : text;
}

function readDigits(digits: string, base: string): bigint | undefined {
  const significant = digits.replace(/^0+/, "");
  if (significant.length > 64) return undefined;
  return BigInt(base + (significant || "0"));
}

/** What a decimal number is read as; one that is too large stays text. */
function decimal(text: string): number | string {
  const digits = text.replaceAll("_", "");
  const named = digits.toLowerCase().replace(/^[-+]+/, "");
  if (named === ".nan") return NaN;
  if (named === ".inf") return digits.startsWith("-") ? -Infinity : Infinity;
  const rounded = Number(digits);
  return Number.isFinite(rounded) ? rounded : text;
}

/** The number of 64 bits that decimal digits stand for, with a sign or without; undefined for any other text. */
export function whole(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const digits = readDigits(text.replace(/^[-+]+/, ""), "");
  if (digits === undefined) return undefined;
  const signed = text.startsWith("-") ? -digits : digits;
  return signed >= LOWEST && signed < -LOWEST ? signed : undefined;
}

/** How a whole number is written in decimal digits. */
export const WHOLE = /^(?:0|-?[1-9][0-9]*)$/;

/** Whether a text is read as a number. */
export function isNumberText(text: string): boolean {
  return text !== "" && ["integer", "number"].includes(implicitType(text));
}

/** Whether a text is a whole number in decimal digits. */
export function isWhole(text: string): boolean {
  return WHOLE.test(text);
}

/** Whether a text is read as a number, and is no whole one in decimal digits. */
export function isOtherForm(text: string): boolean {
  return isNumberText(text) && !isWhole(text);
}

/** Whether text can be written plain and is then read as that very string, by YAML 1.1 readers too. */
function isPlainText(text: string, flow: boolean): boolean {
  return (
    fitsPlain(text, flow) && implicitType(text) === "string" &&
    !YAML11_BOOLEAN.test(text) && text !== "=" && !SEXAGESIMAL.test(text)
  );
}

function fitsPlain(text: string, flow: boolean): boolean {
  if (text === "" || /^[ \t]|[ \t]$|\t/.test(text) || NEEDS_ESCAPES.test(text)) return false;
  if (/^[-?:,[\]{}#&*!|>'"%@`]/.test(text) && (!/^[-?:][^ \t]/.test(text) || flow)) return false;
  if (/: | #|:$/.test(text)) return false;
  if (/^(?:---|\.\.\.)(?: |$)/.test(text)) return false;
  return !flow || !/[,[\]{}:?]/.test(text);
}

/** Write text plain where that is safe, otherwise in double quotes; `flow` is inside brackets. */
export function quoted(text: string, flow = false): string {
  return isPlainText(text, flow) ? text : doubleQuoted(text);
}

function doubleQuoted(text: string): string {
  const escaped = new RegExp(`["\\\\\\t]|${NEEDS_ESCAPES.source}`, "gu");
  return `"${text.replace(escaped, escape)}"`;
}

function escape(character: string): string {
  const known = ESCAPES.get(character);
  if (known !== undefined) return known;
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
}
