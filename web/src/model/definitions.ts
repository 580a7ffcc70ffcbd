// What a Krmfile defines: setters, substitutions (patterns of setters), and what a substitution yields.
//
//     io.k8s.cli.substitutions.IMAGE  {pattern: "nginx:${TAG}", values: [{marker: "${TAG}", ref: …setters.TAG}]}

import { InputError } from "../errors";
import { textOf, type Setter } from "../judge/setter";
import type { Reference } from "./reference";

const DEEPEST = 100; // substitutions within one another
const LONGEST = 1 << 20; // characters of one text
const MOST_WORK = 16 << 20; // characters of all texts

export interface Marker {
  readonly text: string;
  readonly reference: Reference | undefined;
}

export interface Substitution {
  readonly name: string;
  readonly pattern: string;
  readonly markers: readonly Marker[];
  readonly file: string;
  readonly line: number;
}

export type Definition = { readonly setter: Setter } | { readonly substitution: Substitution };

/** The definitions of one Krmfile, by name; it remembers what each substitution yields. */
export class Definitions {
  private readonly texts = new Map<string, string>();
  private readonly reach = new Map<string, ReadonlySet<string>>();
  private work = 0;

  constructor(
    readonly setters: ReadonlyMap<string, Setter>,
    readonly substitutions: ReadonlyMap<string, Substitution>,
  ) {}

  /** What a comment refers to; the short form finds a setter before a substitution of the same name. */
  resolve(reference: Reference): Definition | undefined {
    const setter = reference.kind === "substitution" ? undefined : this.setters.get(reference.name);
    if (setter) return { setter };
    const substitution = reference.kind === "setter" ? undefined : this.substitutions.get(reference.name);
    return substitution && { substitution };
  }

  /** The text that a definition yields now; throws `InputError` for a broken substitution. */
  expand(definition: Definition): string {
    if ("setter" in definition) return textOf(definition.setter);
    const text = this.textOfSubstitution(definition.substitution, []);
    this.count(definition.substitution, text.length);
    return text;
  }

  /** The names of all setters that a definition's text is made of; throws as `expand` does. */
  settersOf(definition: Definition): ReadonlySet<string> {
    return "setter" in definition ? new Set([definition.setter.name]) : this.reachOf(definition.substitution, []);
  }

  /** The names from a setter to a definition, both included; empty where it does not lead there. */
  way(definition: Definition, name: string): string[] {
    if ("setter" in definition) return definition.setter.name === name ? [name] : [];
    if (!this.settersOf(definition).has(name)) return [];
    for (const { target } of this.targets(definition.substitution)) {
      const way = this.way(target, name);
      if (way.length > 0) return [...way, definition.substitution.name];
    }
    return [];
  }

  withSetters(changed: ReadonlyMap<string, Setter>): Definitions {
    return new Definitions(new Map([...this.setters, ...changed]), this.substitutions);
  }

  private targets(substitution: Substitution): { marker: string; target: Definition }[] {
    return substitution.markers.map(({ text, reference }) => {
      const target = reference && this.resolve(reference);
      if (target) return { marker: text, target };
      const what = reference ? `${reference.kind} '${reference.name}', which is not defined` : "nothing";
      throw broken(substitution, `marker '${text}' of substitution '${substitution.name}' refers to ${what}`);
    });
  }

  private textOfSubstitution(substitution: Substitution, above: readonly string[]): string {
    const known = this.texts.get(substitution.name);
    if (known !== undefined) return known;
    let text = substitution.pattern;
    for (const { marker, target } of this.below(substitution, above)) {
      const value = "setter" in target ? textOf(target.setter) : this.textOfSubstitution(target.substitution, [...above, substitution.name]);
      const length = text.length + (text.split(marker).length - 1) * (value.length - marker.length);
      if (length > LONGEST) throw broken(substitution, `substitution ${substitution.name} yields more than ${LONGEST} characters`);
      this.count(substitution, length);
      text = text.replaceAll(marker, () => value);
    }
    this.texts.set(substitution.name, text);
    return text;
  }

  private reachOf(substitution: Substitution, above: readonly string[]): ReadonlySet<string> {
    const known = this.reach.get(substitution.name);
    if (known) return known;
    const names = new Set<string>();
    for (const { target } of this.below(substitution, above)) {
      const found = "setter" in target ? [target.setter.name] : this.reachOf(target.substitution, [...above, substitution.name]);
      for (const name of found) names.add(name);
    }
    this.count(substitution, names.size);
    this.reach.set(substitution.name, names);
    return names;
  }

  private below(substitution: Substitution, above: readonly string[]): { marker: string; target: Definition }[] {
    if (above.includes(substitution.name)) throw broken(substitution, `cyclic substitution detected with name ${substitution.name}`);
    if (above.length >= DEEPEST) {
      throw broken(substitution, `substitution ${substitution.name} holds more than ${DEEPEST - 1} others, one within another`);
    }
    return this.targets(substitution);
  }

  private count(substitution: Substitution, length: number): void {
    this.work += length;
    if (this.work > MOST_WORK) {
      throw broken(substitution, `fields have more than ${MOST_WORK} characters by substitutions, ${substitution.name} among them`);
    }
  }
}

function broken(substitution: Substitution, message: string): InputError {
  return new InputError(`${substitution.file}:${substitution.line}: ${message}`);
}
