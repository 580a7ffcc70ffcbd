// The Krmfile: its definitions and its rules.

import { InputError } from "../errors";
import type { Rule } from "../judge/rules";
import type { Value } from "../judge/scalar";
import type { Setter } from "../judge/setter";
import { Definitions, type Marker, type Substitution } from "./definitions";
import { find, items, lineOf, locate, mapping, nameOf, problem, text, type Child, type Mapping, type Node } from "./node";
import { parseRef, SETTER_PREFIX, SUBSTITUTION_PREFIX } from "./reference";
import { isNull, Reader } from "./values";
import { checkKeys, parseText } from "./yaml";

export const KRMFILE = "Krmfile";
const MOST_RULES = 100;

export interface Krmfile {
  readonly name: string;
  readonly definitions: Definitions;
  readonly rules: readonly Rule[];
}

/** Read a Krmfile; throws `InputError` for one that cannot be read. */
export function parseKrmfile(data: string, name: string): Krmfile {
  const [document] = parseText(data, name).filter(({ root }) => root !== undefined);
  if (!document) throw new InputError(`${name}: is empty`);
  checkKeys(document.root);
  if (document.root?.kind !== "mapping") throw new InputError(`${name}:1: its root must be a mapping`);
  const section = sectionOf(document.root);
  const reader = new Reader(document.root);
  const setters = bodies(section, SETTER_PREFIX, "setter").map((body) => setterOf(body, reader));
  const substitutions = bodies(section, SUBSTITUTION_PREFIX, "substitution").map(substitutionOf);
  const byName = <Item extends { name: string }>(found: Item[]): Map<string, Item> => new Map(found.map((each) => [each.name, each]));
  return { name, definitions: new Definitions(byName(setters), byName(substitutions)), rules: rulesOf(document.root) };
}

/** `openAPI.definitions`; undefined where it is missing or null, as kustomize allows. */
function sectionOf(root: Mapping): Mapping | undefined {
  let node: Mapping = root;
  for (const name of ["openAPI", "definitions"]) {
    const value = find(node, name);
    if (value === undefined || isNull(value)) return undefined;
    if (value.kind !== "mapping") throw problem(value, `${name} must be a mapping`);
    node = value;
  }
  return node;
}

interface Body {
  readonly name: string;
  readonly definition: Mapping;
  readonly body: Mapping;
  readonly place: Child;
}

function bodies(section: Mapping | undefined, prefix: string, kind: string): Body[] {
  return (section?.children ?? []).flatMap((child) => {
    const name = nameOf(child);
    const body = mapping(child.value, "x-k8s-cli", kind);
    if (!name.startsWith(prefix) || child.value.kind !== "mapping" || !body) return [];
    return [{ name: name.slice(prefix.length), definition: child.value, body, place: child }];
  });
}

function setterOf({ name, definition, body, place }: Body, reader: Reader): Setter {
  const listed = find(body, "listValues");
  const enumValues = mapping(body, "enumValues");
  const schema = definition.children.filter((child) => !nameOf(child).startsWith("x-"));
  return {
    name,
    value: text(body, "value"),
    values: listed?.kind === "sequence" ? textsOf(listed) : undefined,
    type: text(definition, "type"),
    description: text(find(definition, "description") ? definition : body, "description"),
    required: text(body, "required") === "true",
    isSet: text(body, "isSet") === "true",
    default: find(definition, "default") ? text(definition, "default") : undefined,
    example: find(definition, "example") ? text(definition, "example") : undefined,
    enumValues: new Map((enumValues?.children ?? []).map((child) => [nameOf(child), text(enumValues, nameOf(child))])),
    schema: new Map(schema.map((child): [string, Value] => [nameOf(child), reader.value(child.value)])),
    ...placeOf(place),
  };
}

function placeOf(child: Child): { file: string; line: number } {
  const { source } = child.value;
  return { file: source.name, line: lineOf(source, child.start) };
}

/** The texts of a list's items; null is none, as in kustomize. */
function textsOf(node: Node): string[] {
  return items(node).flatMap((item) => (item.kind === "scalar" && !isNull(item) ? [item.value] : []));
}

function substitutionOf({ name, body, place }: Body): Substitution {
  const listed = items(find(body, "values")).filter((item) => item.kind === "mapping");
  const markers: Marker[] = listed.map((item) => ({ text: text(item, "marker"), reference: parseRef(text(item, "ref")) }));
  return { name, pattern: text(body, "pattern"), markers, ...placeOf(place) };
}

/** The rules between setters; throws `InputError` for what is none. */
function rulesOf(root: Mapping): Rule[] {
  const section = find(root, "rules");
  if (section === undefined) return [];
  if (section.kind !== "sequence") throw problem(section, "rules must be a list of {rule: …, message: …}");
  const found = items(section);
  if (found.length > MOST_RULES) throw problem(section, `a Krmfile has at most ${MOST_RULES} rules, found ${found.length}`);
  return found.map((item) => {
    if (item.kind !== "mapping") throw problem(item, "a rule must be a mapping: {rule: …, message: …}");
    const unknown = item.children.find((child) => !["rule", "message"].includes(nameOf(child)));
    if (unknown) throw problem(unknown.key ?? item, `${nameOf(unknown)} is not a key of a rule`);
    const missing = ["rule", "message"].find((key) => text(item, key).trim() === "");
    if (missing !== undefined) throw problem(find(item, missing) ?? item, `a rule needs a text under ${missing}`);
    const condition = find(item, "rule") ?? item;
    return {
      text: oneLine(text(item, "rule")),
      message: oneLine(text(item, "message")),
      file: item.source.name,
      line: locate(item.source, condition.start).line,
    };
  });
}

function oneLine(words: string): string {
  return words.split(/\s+/).filter((word) => word !== "").join(" ");
}
