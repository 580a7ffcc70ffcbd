// Answers questions about packages and values, a line of JSON each, so that packyard's own tests can ask the page's
// modules and packyard the same. Bytes are files by their names.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { compare } from "../src/compare/compare";
import { grouped } from "../src/compare/report";
import { constraintOf, describe, kindOf } from "../src/judge/describe";
import { answerOf, itemsOf, type Question } from "../src/judge/judgement";
import type { Rule } from "../src/judge/rules";
import { mustBeSet, shownValue } from "../src/judge/setter";
import { readArchive, readBundle, type Files } from "../src/model/archive";
import { changesOf } from "../src/model/changes";
import { commandsFor, valuesFile } from "../src/model/commands";
import { FieldTypes, type FieldTable } from "../src/model/fieldtypes";
import { parseKrmfile } from "../src/model/krmfile";
import { objectsIn } from "../src/model/objects";
import { fieldsOf, parsePackage, type Option, type PackageModel, type UseCase } from "../src/model/package";
import table from "../../builder/packyard/core/kubernetes/fieldtypes.json";

type Texts = Record<string, string[]>;

type Asked =
  | { ask: "package"; file: string }
  | { ask: "archive"; file: string }
  | { ask: "compare"; before: Record<string, string>; after: Record<string, string> }
  | { ask: "values"; krmfile: string; values: Texts; where: string }
  | { ask: "commands"; file: string; useCase: string; options: string[]; values: Texts; channel: string; bundle: string };

const TYPES = new FieldTypes(table as unknown as FieldTable);

async function modelOf(file: string): Promise<PackageModel> {
  return parsePackage(await readBundle(new Uint8Array(await readFile(file))));
}

function filesOf(texts: Record<string, string>): Files {
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}

async function answer(asked: Asked): Promise<unknown> {
  switch (asked.ask) {
    case "package":
      return packageOf(await modelOf(asked.file));
    case "archive":
      return [...(await readArchive(new Uint8Array(await readFile(asked.file)))).files.keys()];
    case "compare":
      return grouped(compare(filesOf(asked.before), filesOf(asked.after), TYPES)).map(({ places, changes }) => ({
        places, changes: changes.map(({ words, isBreaking, change }) => ({ words, isBreaking, what: change.what })),
      }));
    case "values":
      return judged(asked.krmfile, asked.values, asked.where);
    case "commands":
      return written(await modelOf(asked.file), asked);
  }
}

function packageOf(model: PackageModel): unknown {
  return {
    title: model.title,
    useCases: model.useCases.map((each) => ({ ...partOf(model, each), path: each.path, name: each.name, after: each.after, requires: each.requires, options: each.options.map(({ name }) => name), objects: objectsIn(model.files, each.path) })),
    options: model.options.map((each) => ({ ...partOf(model, each), name: each.name, description: each.description })),
  };
}

function partOf(model: PackageModel, part: UseCase | Option): Record<string, unknown> {
  const setters = part.setters.map((setter) => ({
    name: setter.name, value: shownValue(setter), type: setter.type, description: setter.description, required: mustBeSet(setter),
    example: setter.example ?? null, line: setter.line, kind: kindOf(setter), constraint: constraintOf(setter), takes: describe(setter),
    fields: fieldsOf(model, part, setter.name).map(({ file, line, column, path, value, through }) => ({ file, line, column, path, value, through })),
  }));
  return { setters, rules: part.rules, problem: part.problem };
}

function judged(krmfile: string, values: Texts, where: string): unknown {
  const { definitions, rules } = parseKrmfile(krmfile, "Krmfile");
  const question: Question = { setters: [...definitions.setters.values()], values: new Map(Object.entries(values)), rules, where, misread: [], shipped: [] };
  const answers = itemsOf(question).map((item) => ({ item, answer: answerOf(question, item) }));
  const problems = answers.flatMap(({ item, answer }) => ("setter" in item && "problem" in answer && answer.problem ? [[item.setter, { message: answer.problem.message, hint: answer.problem.hint }]] : []));
  const verdicts = answers.flatMap(({ answer }) => ("verdict" in answer ? [{ ...answer.verdict, rule: (answer.verdict.rule as Rule).text }] : []));
  return { problems: Object.fromEntries(problems), rules: verdicts };
}

function written(model: PackageModel, asked: Asked & { ask: "commands" }): unknown {
  const useCase = model.useCases.find(({ path }) => path === asked.useCase);
  if (!useCase) throw new RangeError(`no use case ${asked.useCase}`);
  const values = new Map(Object.entries(asked.values));
  const given = { model, useCase, options: asked.options, values, channel: asked.channel, bundle: asked.bundle };
  return { ...commandsFor(given), values: valuesFile(given, "by a test"), changes: changesOf(model, useCase, asked.options, values, TYPES) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const told = await answer(JSON.parse(line) as Asked).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    return { error: error.message };
  });
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
