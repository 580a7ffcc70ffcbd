/** The files of a package, and one of them. */
import { InputError } from "../errors";
import { fieldsOf, type PackageModel } from "../model/package";
import { code } from "./code";
import type { Shown } from "./look";
import { packageHash } from "./route";
import { bytes, h, link, type Child } from "./ui";

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function files(shown: Shown): Child {
  const { model, route } = shown;
  const path = route.rest || (model.files.has("README.md") ? "README.md" : ([...model.files.keys()][0] ?? ""));
  const data = model.files.get(path);
  if (!data) throw new InputError(`The package has no file ${path.slice(0, 200)}.`, "Choose one of the list.");
  return h("div", { class: "files" },
    h("nav", { class: "tree", "aria-label": "Files" }, h("details", { open: matchMedia("(min-width: 60rem)").matches }, h("summary", {}, "All files"), tree(shown, path))),
    h("section", { "aria-label": path }, h("h2", {}, path), h("p", { class: "quiet" }, bytes(data.length)), lit(shown, path, data)));
}

/** Folders as lists; those above the file that is shown are open. */
function tree({ model, route }: Shown, shown: string): HTMLElement {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of [...model.files.keys()].sort()) put(root, path.split("/"), path);
  const rows = (folder: Folder, prefix: string): HTMLElement => h("ul", {},
    [...folder.folders].map(([name, inner]) => h("li", {}, h("details", { open: shown.startsWith(`${prefix}${name}/`) }, h("summary", {}, name), rows(inner, `${prefix}${name}/`)))),
    folder.files.map((path) => h("li", {}, h("a", { href: packageHash(route.name, route.version, "files", path), "aria-current": path === shown && "page" }, path.slice(path.lastIndexOf("/") + 1)))));
  return rows(root, "");
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: string[];
}

function put(folder: Folder, parts: readonly string[], path: string): void {
  const [name = "", ...rest] = parts;
  if (!rest.length) folder.files.push(path);
  else {
    const inner = folder.folders.get(name) ?? { folders: new Map(), files: [] };
    folder.folders.set(name, inner);
    put(inner, rest, path);
  }
}

/** The file's text, and the setters that reach fields in it: touching one lights its lines. */
function lit({ model, route }: Shown, path: string, data: Uint8Array): Child {
  const text = textOf(data);
  if (text === undefined) return h("p", {}, "This file is no text.");
  const block = code(text, path, `Text of ${path}`);
  const found = settersIn(model, path);
  if (!found.size) return block;
  const light = (lines: readonly number[] | undefined): void => {
    const all = block.querySelectorAll(".line");
    all.forEach((line) => line.classList.remove("lit"));
    for (const line of lines ?? []) all[line - 1]?.classList.add("lit");
    if (lines?.length) all[(lines[0] ?? 1) - 1]?.scrollIntoView({ block: "nearest" });
  };
  const buttons = [...found].map(([name, lines]) => h("button", { type: "button", mouseenter: () => light(lines), focus: () => light(lines), click: () => light(lines), mouseleave: () => light(undefined), blur: () => light(undefined) }, name));
  const folder = path.slice(0, path.lastIndexOf("/"));
  const isCase = model.useCases.some((each) => each.path === folder);
  return [h("p", {}, "Setters of this file:"), h("p", { class: "buttons chips" }, buttons), isCase && h("p", {}, link(packageHash(route.name, route.version, "use", folder), "Its use case")), block];
}

function settersIn(model: PackageModel, path: string): Map<string, number[]> {
  const parts = [...model.useCases, ...model.options].filter((each) => each.resources.includes(path));
  const found = new Map<string, number[]>();
  for (const part of parts) {
    for (const name of part.definitions.setters.keys()) {
      const lines = fieldsOf(model, part, name).filter((each) => each.file === path).map((each) => each.line);
      if (lines.length) found.set(name, [...new Set([...(found.get(name) ?? []), ...lines])].sort((a, b) => a - b));
    }
  }
  return found;
}

export function textOf(data: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(data);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
