// What differs, in the words of `packyard diff`: each change once, below all the places that have it.

import type { Value } from "../judge/scalar";
import { shown } from "../judge/words";
import { isBreaking, type Change } from "./change";
import { canonical, written } from "./json";
import { readPlain } from "./strict";

const LONGEST = 80; // characters of a value
const CONTEXT = 20; // of them before the first that differs

export interface Group {
  readonly places: readonly string[];
  readonly changes: readonly { readonly change: Change; readonly words: string; readonly isBreaking: boolean }[];
}

/** The changes by the places that share them; of objects that differ by name alone only the kind is named. */
export function grouped(changes: readonly Change[]): Group[] {
  const alike = new Map<string, { change: Change; names: Map<string, string> }>();
  for (const change of changes) {
    const isNamed = change.what === "object" || change.what === "field";
    const key = keyOf({ ...change, where: "", name: isNamed ? (change.name.split(" ")[0] ?? "") : change.name });
    const known = alike.get(key) ?? { change, names: new Map<string, string>() };
    alike.set(key, known);
    known.names.set(change.where, change.name);
  }
  const groups = new Map<string, { places: string[]; changes: Group["changes"][number][] }>();
  for (const { change, names } of alike.values()) {
    const places = [...names.keys()];
    const group = groups.get(places.join("\0")) ?? { places, changes: [] };
    groups.set(places.join("\0"), group);
    const isOne = new Set(names.values()).size === 1;
    const told = isOne ? change : { ...change, name: change.name.split(" ")[0] ?? "" };
    group.changes.push({ change: told, words: sentence(told), isBreaking: isBreaking(change) });
  }
  return [...groups.values()];
}

function keyOf({ what, name, path, change, before, after, setter, note }: Change): string {
  return JSON.stringify([what, name, path, change, before === undefined ? null : canonical(before), after === undefined ? null : canonical(after), setter, note]);
}

/** Say what differs. */
export function sentence(change: Change): string {
  const word = change.what === "object" || change.what === "field" ? "" : change.what;
  const subject = [word, change.name].filter((part) => part !== "").join(" ");
  if (change.path === "required") return `${subject}: ${change.after === true ? "now" : "no longer"} required`;
  if (change.path) {
    const by = change.setter && change.change !== "bound" ? ` (set by ${change.setter})` : "";
    return `${subject}: ${change.path} ${valuesOf(change)}${by}`;
  }
  if (change.what === "setter" && change.change === "added") {
    return `${subject} added, ${(change.after ?? null) === null ? "to be set" : `default ${textOf(change, change.after)}`}`;
  }
  return `${subject} ${change.change}${change.note && `: ${change.note}`}`;
}

function valuesOf(change: Change): string {
  const [before, after] = textsOf(change);
  if (change.change === "bound") {
    if (change.after === undefined) return `no longer set by ${before}`;
    return `set by ${after} now${change.before === undefined ? "" : `, not by ${before}`}`;
  }
  if (change.change === "added" || change.change === "removed") {
    return `${change.change}: ${change.change === "added" ? after : before}`;
  }
  return `${change.change === "reordered" ? "in another order: " : ""}${before} → ${after}`;
}

/** Both values; of long ones that begin alike, what differs, with a few characters before it. */
function textsOf(change: Change): [string, string] {
  let [before, after] = [change.before, change.after];
  if (typeof before === "string" && typeof after === "string") {
    const [one, other] = [[...before], [...after]];
    if (Math.max(one.length, other.length) > LONGEST) {
      const differs = one.findIndex((character, place) => character !== other[place]);
      const start = (differs < 0 ? one.length : differs) - CONTEXT;
      if (start > 0) [before, after] = [`…${one.slice(start).join("")}`, `…${other.slice(start).join("")}`];
    }
  }
  return [textOf(change, before), textOf(change, after)];
}

/** A value; that of a field is in quotes where the text could be taken for something else. */
function textOf(change: Change, value: Value | undefined): string {
  const isMissing = (value ?? null) === null;
  if (change.what !== "field" && isMissing) return "none";
  if (typeof value === "string" && value !== "" && (change.what !== "field" || readPlain(value) === value)) return shown(value);
  const text = [...written(value ?? null)];
  return text.length <= LONGEST ? text.join("") : `${text.slice(0, LONGEST).join("")}…`;
}
