// Values judged as `packyard set` judges them: every value by its definition, then the rules between setters.

import { explain, type Problem } from "./refusal";
import { judgeRule, namesOf, type Rule, type Verdict } from "./rules";
import type { Value } from "./scalar";
import { given, type Setter } from "./setter";

/** What is asked; it can be handed to a worker. */
export interface Question {
  readonly setters: readonly Setter[];
  /** Values by setter: a text, or the items of a list setter; none of them empties it. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly rules: readonly Rule[];
  /** The folder that the commands of hints name. */
  readonly where: string;
  /** Setters in whose fields Kubernetes takes whole numbers, and whose new values are none (`Changes.misread`). */
  readonly misread: readonly string[];
  /** Setters that can be taken back to a value that the package shipped. */
  readonly shipped: readonly string[];
}

/** One thing to judge: a setter by its name, or a rule by its place in the list. */
export type Item = { readonly setter: string } | { readonly rule: number };

export type Answer = { readonly problem: Problem | undefined } | { readonly verdict: Verdict };

/** Everything that a question asks: the values that are given, then the rules that name one of them. */
export function itemsOf(question: Question): Item[] {
  const setters = byName(question);
  const rules = question.rules.flatMap((rule, place): Item[] =>
    namesOf(rule, setters).some((name) => question.values.has(name)) ? [{ rule: place }] : [],
  );
  return [...[...question.values.keys()].map((setter) => ({ setter })), ...rules];
}

/** Judge one thing. */
export function answerOf(question: Question, item: Item): Answer {
  if ("setter" in item) return { problem: problemOf(question, item.setter) };
  const rule = question.rules[item.rule];
  if (!rule) throw new RangeError(`there is no rule ${item.rule}`);
  return { verdict: judgeRule(rule, after(question)) };
}

function problemOf(question: Question, name: string): Problem | undefined {
  const setter = question.setters.find((each) => each.name === name);
  if (!setter) return { message: `setter '${name}' is not found`, hint: "", meant: [] };
  const texts = cleaned(question.values.get(name) ?? []);
  const found = explain(setter, texts, question.where, question.shipped.includes(name));
  if (found || !question.misread.includes(name)) return found;
  const schema = new Map<string, Value>([...setter.schema, ["type", "integer"]]);
  return explain({ ...setter, schema }, texts, question.where, question.shipped.includes(name));
}

/** `NAME=` gives no value. */
function cleaned(texts: readonly string[]): readonly string[] {
  return texts.length === 1 && texts[0] === "" ? [] : texts;
}

function byName(question: Question): Map<string, Setter> {
  return new Map(question.setters.map((setter) => [setter.name, setter]));
}

function after(question: Question): Map<string, Setter> {
  const setters = byName(question);
  for (const [name, texts] of question.values) {
    const setter = setters.get(name);
    if (setter) setters.set(name, given(setter, cleaned(texts)));
  }
  return setters;
}
