// The cases of tests/cases/judgement/, which packyard's own tests read, too. No part of Node's is used here, so that a
// browser runs them as well: `differences` names the cases whose verdict or words are others.

import descriptions from "../../tests/cases/judgement/descriptions.json";
import emptied from "../../tests/cases/judgement/emptied.json";
import decided from "../../tests/cases/judgement/expressions-decided.json";
import undecided from "../../tests/cases/judgement/expressions-undecided.json";
import withoutAnswer from "../../tests/cases/judgement/expressions-without-answer.json";
import wrong from "../../tests/cases/judgement/expressions-wrong.json";
import expressions from "../../tests/cases/judgement/expressions.json";
import formats from "../../tests/cases/judgement/formats.json";
import keywords from "../../tests/cases/judgement/keywords.json";
import letters from "../../tests/cases/judgement/letters.json";
import meant from "../../tests/cases/judgement/numbers-meant.json";
import numbers from "../../tests/cases/judgement/numbers.json";
import faults from "../../tests/cases/judgement/patterns-faults.json";
import found from "../../tests/cases/judgement/patterns-matches.json";
import refusals from "../../tests/cases/judgement/refusals.json";
import rules from "../../tests/cases/judgement/rules.json";
import definitions from "../../tests/trees/rules/definitions.yaml";
import { describe } from "../src/judge/describe";
import { formatAdmits } from "../src/judge/formats";
import { wordsOf } from "../src/judge/patterns";
import { explain } from "../src/judge/refusal";
import { fault, matches } from "../src/judge/regexp";
import { judgeRule, type State } from "../src/judge/rules";
import type { Value } from "../src/judge/scalar";
import type { Schema, Setter } from "../src/judge/setter";
import { refuses, wholeNumber } from "../src/judge/stricter";
import { admits } from "../src/judge/value";
import { parseKrmfile } from "../src/model/krmfile";

/** Cases that differ on purpose. */
const OTHER_WORDS = new Set([`fault of ${JSON.stringify(String.raw`\pL{1000}\pL{1000}\pL{1000}`)}`]); // which re2js has room for

/** The value of JSON as a definition has it: whole numbers are bigints. */
function valueOf(json: unknown): Value {
  if (Array.isArray(json)) return json.map(valueOf);
  if (typeof json === "number" && Number.isInteger(json)) return BigInt(json);
  if (typeof json === "object" && json !== null) return new Map(Object.entries(json).map(([key, each]): [string, Value] => [key, valueOf(each)]));
  return json as string | number | boolean | null;
}

function setterOf(schema: unknown, more: Partial<Setter> = {}): Setter {
  const keywords = valueOf(schema) as Schema;
  const type = keywords.get("type");
  return {
    name: "A", value: "", values: undefined, type: typeof type === "string" ? type : "", description: "", required: false,
    isSet: false, default: undefined, example: undefined, enumValues: new Map(), schema: keywords, file: "", line: 0, ...more,
  };
}

type Difference = string;

function* compared(what: string, one: unknown, expected: unknown): Generator<Difference> {
  if (one !== expected && !OTHER_WORDS.has(what)) yield `${what}: ${JSON.stringify(one)}, not ${JSON.stringify(expected)}`;
}

function krmfileOf(lines: string): Setter {
  const text = `openAPI:\n  definitions:\n    io.k8s.cli.setters.V:\n${lines.split("\n").map((line) => `      ${line}\n`).join("")}      x-k8s-cli: {setter: {name: V, value: "0"}}\n`;
  return parseKrmfile(text, "Krmfile").definitions.setters.get("V") as Setter;
}

function* values(): Generator<Difference> {
  for (const [lines = "", good = "", bad = ""] of keywords) {
    const setter = krmfileOf(lines);
    yield* compared(`${lines} admits ${good}`, admits(setter, [good]), true);
    yield* compared(`${lines} admits ${bad}`, admits(setter, [bad]), false);
  }
  for (const [name, [good = [], bad = []]] of Object.entries(formats)) {
    for (const text of good) yield* compared(`${name} admits ${text}`, formatAdmits(name, text), true);
    for (const text of bad) yield* compared(`${name} admits ${text}`, formatAdmits(name, text), false);
  }
  for (const [text, schema, isAdmitted] of numbers) {
    yield* compared(`${JSON.stringify(schema)} admits ${text}`, admits(setterOf(schema), [String(text)]), isAdmitted);
  }
  for (const [schema, isRefused] of emptied) {
    yield* compared(`${JSON.stringify(schema)} refuses no value`, refuses(setterOf(schema, { value: "a" }), []), isRefused);
    yield* compared(`${JSON.stringify(schema)} refuses ''`, refuses(setterOf(schema, { value: "a" }), [""]), isRefused);
  }
  for (const [text = "", number] of meant) yield* compared(`${text} is meant for`, wholeNumber(text), number);
}

function* words(): Generator<Difference> {
  for (const [schema, takes] of descriptions) yield* compared(JSON.stringify(schema), describe(setterOf(schema)), takes);
  for (const [schema, text, says] of refusals) {
    const problem = explain(setterOf(schema), [String(text)], "");
    const said = problem ? `${problem.message} (${problem.hint})` : "";
    yield* compared(`${JSON.stringify(schema)} refuses ${text}`, said.includes(String(says)) || said, true);
  }
  for (const [pattern = "", takes] of letters) {
    yield* compared(pattern, wordsOf(new Map([["pattern", pattern]]))?.takes ?? "", takes);
  }
}

function* patterns(): Generator<Difference> {
  for (const [pattern = "", says] of faults) yield* compared(`fault of ${JSON.stringify(pattern)}`, fault(pattern), says);
  for (const [pattern, text, isFound] of found) {
    yield* compared(`${pattern} in ${JSON.stringify(text)}`, matches(String(pattern), String(text)), isFound);
  }
  yield* compared("^(a+)+$ in a long text", matches("^(a+)+$", `${"a".repeat(100_000)}!`), false);
}

/** The setters of Python's test_expression.py. */
const NAMED = new Map(
  [
    ["N", "integer", "8"], ["M", "integer", "3"], ["ZERO", "integer", "0"], ["NONE", "integer", ""], ["BAD", "integer", "x"],
    ["RATE", "number", "0.5"], ["YES", "boolean", "true"], ["NO", "boolean", "false"], ["TEXT", "", "abc"], ["EMPTY", "", ""],
    ["CPU", "", "1500m"], ["MEMORY", "", "2Gi"],
  ].map(([name = "", type = "", value = ""]): [string, Setter] => [name, setterOf({}, { name, type, value })]),
).set("LIST", setterOf({}, { name: "LIST", type: "array", values: ["a", "b"] }));

function stateOf(text: string, setters: ReadonlyMap<string, Setter> = NAMED): State {
  return judgeRule({ text, message: "x", file: "Krmfile", line: 1 }, setters).state;
}

function* conditions(): Generator<Difference> {
  for (const [text, expected] of expressions) {
    const written = typeof expected === "string" ? JSON.stringify(expected) : text === "double(N) * RATE" ? "4.0" : String(expected);
    yield* compared(String(text), stateOf(typeof expected === "boolean" ? `(${text}) && has(N)` : `(${text}) == ${written} && has(N)`), "holds");
  }
  for (const text of decided) {
    yield* compared(text, stateOf(text), "broken");
    yield* compared(`!(${text})`, stateOf(`!(${text}) || NONE > 1`), "holds");
  }
  for (const text of undecided) yield* compared(text, stateOf(text), "waits");
  for (const text of withoutAnswer) yield* compared(text, stateOf(`(${text}) == (${text})`), "broken");
  for (const [text] of wrong) yield* compared(String(text), stateOf(String(text)), "not judged");
  const { setters } = parseKrmfile(definitions, "Krmfile").definitions;
  for (const [text, holds] of rules) {
    const state = holds === null ? "waits" : holds ? "holds" : "broken";
    yield* compared(String(text), stateOf(String(text).replace(/^'(.*)'$/, (_, inner: string) => inner.replaceAll("''", "'")), setters), state);
  }
}

/** By the kind of case, those whose verdict or words are not packyard's. */
export function differences(): Map<string, Difference[]> {
  return new Map([["values", [...values()]], ["words", [...words()]], ["patterns", [...patterns()]], ["rules", [...conditions()]]]);
}
