// Numbers compared as decimals, as they are written: 0.3 is a multiple of 0.1.

import type { Value } from "./scalar";
import type { Schema } from "./setter";

export type Num = bigint | number;

/** coefficient × 10^exponent */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** The most that a whole number of 32 bits can be, as Kubernetes has for replicas and for users. */
export const LIMIT = (1n << 31n) - 1n;
const LONGEST = 400; // characters of a number, which is rounded as a float beyond

/** Whether a keyword's value is a number that others can be compared with. */
export function isNumber(value: Value | undefined): value is Num {
  return typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value));
}

/** A definition without a maximum that is the limit of Kubernetes, which few readers need to know. */
export function withoutLimit(schema: Schema): Schema {
  const maximum = schema.get("maximum");
  return maximum !== LIMIT && maximum !== Number(LIMIT)
    ? schema
    : new Map([...schema].filter(([key]) => key !== "maximum"));
}

/** Whether a number is not beyond a bound, the highest or the lowest; nan is beyond every bound. */
export function isWithin(value: Num, text: string, bound: Num, most: boolean, exclusive: boolean): boolean {
  if (Number.isNaN(value)) return false;
  const order = typeof value === "number" && !Number.isFinite(value)
    ? (value > 0 ? 1 : -1)
    : compare(decimalOf(value, text), decimalOf(bound, ""));
  return (order === 0 && !exclusive) || (most ? order < 0 : order > 0);
}

/** Whether a number is a multiple of another, which is more than zero. */
export function isMultiple(value: Num, text: string, step: Num): boolean {
  if (typeof value === "number" && !Number.isFinite(value)) return false;
  const [one, other] = aligned(decimalOf(value, text), decimalOf(step, ""));
  return one % other === 0n;
}

/** The number that a text states, or that a float is written as. */
function decimalOf(value: Num, text: string): Decimal {
  if (typeof value === "bigint") return { coefficient: value, exponent: 0 };
  const isWritten = text.length > 0 && text.length <= LONGEST && value !== 0;
  return parse(isWritten ? text.replaceAll("_", "") : String(value));
}

function parse(text: string): Decimal {
  const [, sign = "", whole = "", fraction = "", power = "0"] = /^([-+]?)([0-9]*)\.?([0-9]*)(?:[eE]([-+]?[0-9]+))?$/.exec(text) ?? [];
  const digits = BigInt(whole + fraction);
  return { coefficient: sign === "-" ? -digits : digits, exponent: Number(power) - fraction.length };
}

function compare(one: Decimal, other: Decimal): number {
  const [first, second] = aligned(one, other);
  return first < second ? -1 : first > second ? 1 : 0;
}

/** The coefficients at one exponent; they have some thousand digits at most, as floats end at 10^±324. */
function aligned(one: Decimal, other: Decimal): [bigint, bigint] {
  const exponent = Math.min(one.exponent, other.exponent);
  const at = (each: Decimal): bigint => each.coefficient * 10n ** BigInt(each.exponent - exponent);
  return [at(one), at(other)];
}

/** The whole number that a decimal text is, if it is one of fewer than `digits` digits. */
export function wholeOf(text: string, most: number): bigint | undefined {
  const match = /^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.exec(text);
  if (!match) return undefined;
  const { coefficient, exponent } = parse(text);
  if (coefficient === 0n) return 0n;
  const digits = String(coefficient < 0n ? -coefficient : coefficient).length;
  if (digits - 1 + exponent >= most || -exponent > digits) return undefined;
  if (exponent >= 0) return coefficient * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return coefficient % divisor === 0n ? coefficient / divisor : undefined;
}
