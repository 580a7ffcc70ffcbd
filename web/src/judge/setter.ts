import type { Value } from "./scalar";

/** The keywords of a definition by their names. */
export type Schema = ReadonlyMap<string, Value>;

/**
 * One setter as its definition states it; texts are as written, without quotes. `values` are the items of a list
 * setter. It can be handed to a worker.
 */
export interface Setter {
  readonly name: string;
  readonly value: string;
  readonly values: readonly string[] | undefined;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly isSet: boolean;
  readonly default: string | undefined;
  readonly example: string | undefined;
  readonly enumValues: ReadonlyMap<string, string>;
  readonly schema: Schema;
  readonly file: string;
  readonly line: number;
}

const ALIASES = new Map([["int", "integer"], ["bool", "boolean"]]);

/** The type that a definition names, by its name in OpenAPI: `integer` for `int`. */
export function fullType(name: string): string {
  return ALIASES.get(name) ?? name;
}

/** Whether the setter sets whole lists. */
export function isList(setter: Setter): boolean {
  return setter.type === "array";
}

/** What a field shows: the value, or what its name in `enumValues` stands for. */
export function textOf(setter: Setter): string {
  return setter.enumValues.get(setter.value) ?? setter.value;
}

/** The value as one text; the items of a list are in brackets. */
export function shownValue(setter: Setter): string {
  return setter.values?.length ? `[${setter.values.join(",")}]` : setter.value;
}

/** Whether there is a value: a text or items. */
export function hasValue(setter: Setter): boolean {
  const hasItems = (setter.values?.length ?? 0) > 0;
  return isList(setter) ? hasItems : setter.value !== "" || hasItems;
}

/** Whether a value is required and none is there, whoever has set that. */
export function mustBeSet(setter: Setter): boolean {
  return setter.required && !hasValue(setter);
}

/** The setter with another value: the items of a list, or the first text; none empties it. */
export function given(setter: Setter, texts: readonly string[]): Setter {
  return isList(setter) ? { ...setter, values: texts, isSet: true } : { ...setter, value: texts[0] ?? "", isSet: true };
}

/** The schema of a list's items. */
export function itemsOf(schema: Schema): Schema {
  const items = schema.get("items");
  return items instanceof Map ? (items as Schema) : new Map();
}

/** The types that a schema declares, by their names in OpenAPI. */
export function typesOf(schema: Schema): string[] {
  const declared = schema.get("type");
  const listed = Array.isArray(declared) ? (declared as readonly Value[]) : [declared];
  return listed.filter((name): name is string => typeof name === "string" && name !== "").map(fullType);
}
