// What a Krmfile states, as plain facts: of each setter, substitution and rule what matters to those who use it.

import type { Value } from "../judge/scalar";
import { fullType, mustBeSet, shownValue, type Setter } from "../judge/setter";
import { parseKrmfile } from "../model/krmfile";
import type { Substitution } from "../model/definitions";
import type { What } from "./change";
import { isSame } from "./json";

/** A definition: its kind, its name, and what is stated of it. */
export interface Stated {
  readonly what: What;
  readonly name: string;
  readonly facts: ReadonlyMap<string, Value>;
}

const IS_SET = "isSet";

/** Read a Krmfile; a setter's `default` is null where a value has to be set. */
export function statedIn(data: string, name: string): Stated[] {
  const { definitions, rules } = parseKrmfile(data, name);
  return [
    ...[...definitions.setters.values()].map((each): Stated => ({ what: "setter", name: each.name, facts: ofSetter(each) })),
    ...[...definitions.substitutions.values()].map((each): Stated => ({ what: "substitution", name: each.name, facts: ofPattern(each) })),
    ...rules.map(({ text, message }): Stated => ({ what: "rule", name: text, facts: new Map([["message", message]]) })),
  ];
}

/** What differs in what is stated of one definition, before and after; the `value` is what somebody set. */
export function differing(before: Stated, after: Stated): { path: string; before: Value | undefined; after: Value | undefined }[] {
  const keys = [...new Set([...before.facts.keys(), ...after.facts.keys()])].filter((key) => key !== IS_SET).sort();
  return keys.flatMap((key) => {
    const [one, other] = [before.facts.get(key), after.facts.get(key)];
    if (isSame(one ?? null, other ?? null)) return [];
    const isSet = key === "default" && (before.facts.get(IS_SET) === true || after.facts.get(IS_SET) === true);
    return [{ path: isSet ? "value" : key, before: one, after: other }];
  });
}

function ofSetter(setter: Setter): Map<string, Value> {
  return new Map<string, Value>([
    ...setter.schema,
    ["type", fullType(setter.type) || null],
    ["description", setter.description || null],
    ["enumValues", setter.enumValues.size > 0 ? setter.enumValues : null],
    ["required", setter.required],
    ["default", mustBeSet(setter) ? null : shownValue(setter)],
    [IS_SET, setter.isSet],
  ]);
}

function ofPattern({ pattern, markers }: Substitution): Map<string, Value> {
  const values = new Map(markers.map(({ text, reference }): [string, Value] => [text, reference?.name ?? null]));
  return new Map<string, Value>([["pattern", pattern], ["values", values]]);
}
