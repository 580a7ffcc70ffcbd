/** Typed reading of JSON that may be hostile. Objects become maps, in the order of code points, as the formats sort. */
import { IntegrityError } from "../errors";

const DEPTH = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export type Fields = ReadonlyMap<string, unknown>;

/** Reads a document of one kind of packyard's. */
export function document(data: Uint8Array, kind: string, what: string): Fields {
  const fields = object(json(data, what), what);
  const [version, found] = [fields.get("apiVersion"), fields.get("kind")];
  if (version !== "packyard/v1" || found !== kind) {
    throw new IntegrityError(`${what} should be a packyard/v1 ${kind}.`, "A newer packyard may have written it: the host renews the page with packyard web.");
  }
  return fields;
}

export function json(data: Uint8Array, what: string): unknown {
  try {
    const value: unknown = JSON.parse(utf8.decode(data));
    if (isTooDeep(value, DEPTH)) throw new SyntaxError("too deep");
    return value;
  } catch {
    throw new IntegrityError(`${what} cannot be read as JSON.`, "It is damaged; tell whoever publishes the channel.");
  }
}

function isTooDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((item) => isTooDeep(item, left - 1));
}

export function object(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(what, "an object");
  return new Map(Object.entries(value));
}

export function text(value: unknown, what: string): string {
  if (typeof value !== "string") throw wrong(what, "a text");
  return value;
}

export function texts(value: unknown, what: string): string[] {
  return list(value ?? [], what).map((item) => text(item, what));
}

export function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw wrong(what, "a list");
  return value;
}

export function size(value: unknown, what: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw wrong(what, "a whole number");
  return value;
}

export function textMap(value: unknown, what: string): ReadonlyMap<string, string> {
  return new Map([...object(value ?? {}, what)].map(([key, item]) => [key, text(item, what)]));
}

function wrong(what: string, wanted: string): IntegrityError {
  return new IntegrityError(`${what} should be ${wanted}.`, "It is damaged; tell whoever publishes the channel.");
}

/** Orders texts by code points, as packyard does; `<` compares UTF-16 units. */
export function byCodePoint(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (difference) return difference;
  }
  return a.length - b.length;
}
