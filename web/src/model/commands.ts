// The commands that set values and run a use case, and the files that hold the values; whatever the values are, a
// POSIX shell and a reader of YAML get them as they were typed.

import { quoted } from "../judge/scalar";
import { shellQuoted } from "../judge/words";
import { isList } from "../judge/setter";
import { wayTo, type Values } from "./changes";
import type { PackageModel, UseCase } from "./package";

export interface Asked {
  readonly model: PackageModel;
  readonly useCase: UseCase;
  readonly options: readonly string[];
  readonly values: Values;
  /** The channel's address, and the address of the bundle's `.tar.gz`. */
  readonly channel: string;
  readonly bundle: string;
  readonly namespace?: string;
}

export interface Commands {
  /** One command that gets, sets, checks and deploys. */
  readonly run: string;
  /** The same in steps, with options enabled, up to the rendered manifests. */
  readonly steps: string;
  /** Without packyard: wget, tar and kustomize 3.8.7 to 4.5.7. */
  readonly plain: string;
}

/** The commands for what is asked; each is lines to paste into a POSIX shell. */
export function commandsFor(asked: Asked): Commands {
  return { run: runOf(asked), steps: stepsOf(asked), plain: plainOf(asked) };
}

function runOf(asked: Asked): string {
  const { model, useCase, channel, namespace } = asked;
  const { name, version } = model.manifest;
  if (asked.options.length > 0) return `${stepsOf(asked, false)}\n${command("packyard", "run", `${name}/${useCase.name}`, ...there(namespace))}`;
  // the values stand right behind the use case: behind flags they are not read
  return command("packyard", "run", `${name}@${version}/${useCase.name}`, ...assignments(asked), `--from=${channel}`, ...there(namespace));
}

function there(namespace: string | undefined): string[] {
  return namespace ? ["-n", namespace] : [];
}

function stepsOf(asked: Asked, isRendered = true): string {
  const { model, channel, options } = asked;
  const folder = folderOf(asked);
  const values = assignments(asked);
  return [
    command("packyard", "get", `${model.manifest.name}@${model.manifest.version}`, "--from", channel),
    ...(options.length > 0 ? [command("packyard", "enable", folder, ...options)] : []),
    ...(values.length > 0 ? [command("packyard", "set", folder, ...values)] : []),
    ...(isRendered ? [`${command("packyard", "render", folder)} | kubectl apply -f -`] : []),
  ].join("\n");
}

/** Each value by a command of its own: `kustomize cfg set` knows one setter at a time. */
function plainOf(asked: Asked): string {
  const { model, useCase, values, options, bundle } = asked;
  const folder = folderOf(asked);
  const archive = `${model.manifest.name}.tar.gz`;
  const enabled = useCase.options.filter(({ name }) => options.includes(name));
  const added = enabled.map(({ path }) => command("kustomize", "edit", "add", "component", wayTo(useCase.path, path)));
  const sets = [...values].flatMap(([name, texts]) =>
    [useCase, ...enabled].filter((part) => part.definitions.setters.has(name)).map((part) => {
      const where = part === useCase ? folder : `${model.manifest.name}/${part.folder}`;
      // an empty text is given by the flag: without one, kustomize takes it for a forgotten value
      return texts.some((text) => text.startsWith("-") || text === "") || texts.length === 0
        ? command("kustomize", "cfg", "set", where, name, `--values=${texts.join(",")}`)
        : command("kustomize", "cfg", "set", where, name, ...texts);
    }),
  );
  return [
    command("wget", "-O", archive, bundle),
    command("tar", "-xzf", archive),
    ...(added.length > 0 ? [`(cd ${shellQuoted(folder)} && ${added.join(" && ")})`] : []),
    ...new Set(sets),
    `${command("kustomize", "build", folder)} | kubectl apply -f -`,
  ].join("\n");
}

function folderOf({ model, useCase }: Asked): string {
  return `${model.manifest.name}/${useCase.path}`;
}

/** How `packyard set` takes values: a word for each item of a list, `NAME=` for none. */
function assignments({ values }: Asked): string[] {
  return [...values].flatMap(([name, texts]) => (texts.length > 0 ? texts : [""]).map((text) => `${name}=${text}`));
}

function command(...words: string[]): string {
  return words.map(shellQuoted).join(" ");
}

/** A values file from which packyard reads these values, a list where a setter sets lists; also a package's preset. */
export function valuesFile({ useCase, options, values }: Pick<Asked, "useCase" | "options" | "values">, description = ""): string {
  const parts = [useCase, ...useCase.options.filter(({ name }) => options.includes(name))];
  const lines = [...values].map(([name, texts]) => {
    const isListed = parts.some(({ definitions }) => {
      const setter = definitions.setters.get(name);
      return setter !== undefined && isList(setter);
    });
    const lexemes = texts.map((text) => quoted(text, true));
    return `${quoted(name, true)}: ${isListed ? `[${lexemes.join(", ")}]` : (lexemes[0] ?? '""')}\n`;
  });
  const comment = description.split(/\s+/).join(" ").trim();
  return (comment ? `# ${comment}\n` : "") + (lines.join("") || "{}\n");
}
