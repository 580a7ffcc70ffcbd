// What setting some values changes: the fields, and the lines that enable options. Nothing here judges the values.

import { InputError } from "../errors";
import { given, shownValue, isList, textOf, type Setter } from "../judge/setter";
import { implicitType, isOtherForm, isWhole } from "../judge/scalar";
import type { Definition, Definitions } from "./definitions";
import type { FieldTypes, Step } from "./fieldtypes";
import { text, type Node } from "./node";
import { boundFields, join, KUSTOMIZATIONS, parentOf, type Option, type PackageModel, type Part, type UseCase } from "./package";

/** One field that is set; texts are without quotes, and may be equal. */
export interface FieldChange {
  /** The definition that the field's comment refers to. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** Whether Kubernetes takes whole numbers there, and `after` is none in decimal digits. */
  readonly isMisread: boolean;
}

/** An option's line in the use case's kustomization. */
export interface EnabledOption {
  readonly option: string;
  readonly file: string;
  readonly line: string;
}

export interface Changes {
  readonly fields: readonly FieldChange[];
  readonly enabled: readonly EnabledOption[];
  /** Setters that get a value and set no field; `packyard set` refuses them. */
  readonly idle: readonly string[];
  /** Setters that set a field which Kubernetes takes a whole number in, and get another text. */
  readonly misread: readonly string[];
  /** What is wrong with substitutions, in sentences. */
  readonly problems: readonly string[];
}

/** Values by setter: a text, or the items of a list setter; none of them empties it. */
export type Values = ReadonlyMap<string, readonly string[]>;

/** What a use case's values and options change. */
export function changesOf(model: PackageModel, useCase: UseCase, options: readonly string[], values: Values, types: FieldTypes): Changes {
  const enabled = useCase.options.filter(({ name }) => options.includes(name));
  const problems: string[] = [];
  const fields = [useCase, ...enabled].flatMap((part) => inPart(model, part, values, types, problems));
  const reached = new Set(fields.flatMap(({ reaches }) => reaches));
  const misread = new Set<string>();
  for (const { change, reaches } of fields.filter((each) => each.change.isMisread)) {
    if (values.has(change.name)) misread.add(change.name);
    else if (reaches.length > 0) {
      problems.push(`${change.path} takes a whole number in decimal digits, and ${change.name} would make it '${change.after}'`);
    }
  }
  return {
    fields: fields.map(({ change }) => change),
    enabled: enabled.map((option) => lineOf(model, useCase, option)),
    idle: [...values.keys()].filter((name) => !reached.has(name)),
    misread: [...misread],
    problems: [...new Set(problems)],
  };
}

function inPart(model: PackageModel, part: Part, values: Values, types: FieldTypes, problems: string[]): { change: FieldChange; reaches: string[] }[] {
  const { setters } = part.definitions;
  const changed = new Map([...values].flatMap(([name, texts]): [string, Setter][] => {
    const setter = setters.get(name);
    return setter ? [[name, given(setter, texts)]] : [];
  }));
  if (changed.size === 0) return [];
  const after = part.definitions.withSetters(changed);
  return boundFields(model.files, part).flatMap(({ field, node, root }) => {
    try {
      const definition = after.resolve({ kind: kindOf(after, field.through[0] ?? ""), name: field.through[0] ?? "" });
      const reaches = definition ? [...after.settersOf(definition)].filter((name) => changed.has(name)) : [];
      if (!definition || reaches.length === 0) return [];
      const { file, line, column, path, value: before } = field;
      const text = newText(after, definition);
      const isMisread = node.kind === "scalar" && misreads(types, root, field.steps, before, text);
      return [{ change: { name: field.through[0] ?? "", file, line, column, path, before, after: text, isMisread }, reaches }];
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
}

function kindOf(definitions: Definitions, name: string): "setter" | "substitution" {
  return definitions.setters.has(name) ? "setter" : "substitution";
}

function newText(definitions: Definitions, definition: Definition): string {
  if (!("setter" in definition)) return definitions.expand(definition);
  const { setter } = definition;
  return isList(setter) ? shownValue({ ...setter, values: setter.values ?? [] }) || "[]" : textOf(setter);
}

/** Whether a field takes whole numbers by what Kubernetes says, and gets another text, or another form. */
function misreads(types: FieldTypes, root: Node, path: readonly Step[], before: string, after: string): boolean {
  const isNumber = isOtherForm(after);
  if (isWhole(after) || !(isNumber || implicitType(before) !== "string")) return false;
  const known = types.typeAt(text(root, "apiVersion"), text(root, "kind"), path);
  return known === "integer" || (isNumber && known === "int-or-string");
}

/** The line that enables an option: the way to its folder. */
function lineOf(model: PackageModel, useCase: UseCase, option: Option): EnabledOption {
  const file = KUSTOMIZATIONS.map((name) => join(useCase.path, name)).find((path) => model.files.has(path)) ?? join(useCase.path, "kustomization.yaml");
  return { option: option.name, file, line: wayTo(useCase.path, option.path) };
}

/** The path from one folder to another, such as `../../options/queue`. */
export function wayTo(from: string, to: string): string {
  let above = from;
  let up = "";
  while (above !== "" && to !== above && !to.startsWith(`${above}/`)) {
    above = parentOf(above);
    up += "../";
  }
  return up + (above === "" ? to : to.slice(above.length + 1));
}
