// Values as JSON: to compare them, and to show them as packyard does.

import type { Value } from "../judge/scalar";
import { numberText } from "../judge/words";

/** A text that two values share if they are the same; the keys of mappings are sorted. */
export function canonical(value: Value | undefined): string {
  return written(value ?? null, true);
}

/** Whether two values are the same. */
export function isSame(one: Value | undefined, other: Value | undefined): boolean {
  return (one === undefined) === (other === undefined) && canonical(one) === canonical(other);
}

/** JSON as Python writes it, with a blank behind commas and colons. */
export function written(value: Value, isSorted = false): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint" || typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map((item) => written(item, isSorted)).join(", ")}]`;
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, Value>)];
    if (isSorted) members.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${written(member, isSorted)}`).join(", ")}}`;
  }
  return String(value);
}
