/** The use cases of a package; one of them with its objects, parameters, rules and options. */
import { InputError } from "../errors";
import { constraintOf, kindOf } from "../judge/describe";
import { mustBeSet, shownValue, type Setter } from "../judge/setter";
import { objectsIn } from "../model/objects";
import { fieldsOf, type Field, type PackageModel, type UseCase } from "../model/package";
import type { Shown } from "./look";
import { packageHash } from "./route";
import { code } from "./code";
import { textOf } from "./files";
import { h, link, problem, table, waiting, type Child, type Row } from "./ui";
import { requirement } from "./words";

export function useCases(shown: Shown): Child {
  return shown.route.rest ? one(shown, named(shown.model, shown.route.rest)) : all(shown);
}

export function named(model: PackageModel, path: string): UseCase {
  const found = model.useCases.find((each) => each.path === path || each.name === path);
  if (!found) throw new InputError(`The package has no use case ${path.slice(0, 200)}.`, `It has: ${model.useCases.map((each) => each.name).join(", ")}.`);
  return found;
}

function all({ model, route }: Shown): Child {
  const names = new Map(model.useCases.map((each) => [each.path, each.name]));
  return [
    table(["Use case", "What it does", "Needs", "To be set"], model.useCases.map((each) => ({
      cells: [
        link(packageHash(route.name, route.version, "use", each.path), each.name),
        [each.description, each.after.length > 0 && h("span", { class: "quiet" }, ` Runs after ${each.after.map((path) => names.get(path) ?? path).join(", ")}.`)],
        each.requires.map((text, place) => [place > 0 && ", ", requirement(text)]),
        each.setters.filter(mustBeSet).map((setter, place) => [place > 0 && ", ", h("code", {}, setter.name)]),
      ],
    }))),
    options(model.options),
  ];
}

function options(found: PackageModel["options"]): Child {
  if (!found.length) return false;
  return [h("h2", {}, "Options"), h("dl", {}, found.map((each) => [h("dt", {}, h("code", {}, each.name)), h("dd", {}, each.description, each.setters.length > 0 && h("span", { class: "quiet" }, `. Sets ${each.setters.map(({ name }) => name).join(", ")}.`))]))];
}

function one(shown: Shown, useCase: UseCase): Child {
  const { model, route } = shown;
  const names = new Map(model.useCases.map((each) => [each.path, each.name]));
  return [
    h("p", { class: "crumbs" }, link(packageHash(route.name, route.version, "use"), "All use cases")),
    h("h2", {}, useCase.name),
    h("p", {}, useCase.description),
    useCase.after.length > 0 && h("p", {}, "Runs after ", useCase.after.map((path, place) => [place > 0 && ", ", link(packageHash(route.name, route.version, "use", path), names.get(path) ?? path)]), "."),
    useCase.requires.length > 0 && h("p", {}, "Needs ", useCase.requires.map(requirement).join(", "), "."),
    useCase.problem && problem(new InputError(`Its parameters cannot be read: ${useCase.problem}`)),
    h("p", {}, link(packageHash(route.name, route.version, "set", useCase.path), "Set its values, and get the commands")),
    h("h3", {}, "Objects"),
    pictured(shown, useCase),
    parameters(shown, useCase),
    useCase.rules.length > 0 && [h("h3", {}, "Rules"), h("ul", {}, useCase.rules.map((rule) => h("li", {}, rule.message || rule.text, rule.message && [" ", h("code", {}, rule.text)])))],
    useCase.options.length > 0 && options(useCase.options),
  ];
}

function pictured({ model, route }: Shown, useCase: UseCase): HTMLElement {
  const place = h("div", { class: "picture", tabindex: 0, role: "group", "aria-label": "Picture of the objects" }, waiting("Drawing…"));
  void import("./picture").then(({ picture, list }) => {
    try {
      const objects = objectsIn(model.files, useCase.path);
      place.replaceChildren(picture(objects, (file) => packageHash(route.name, route.version, "files", file)));
      place.after(h("details", { open: place.scrollWidth > place.clientWidth }, h("summary", {}, "The objects in words"), list(objects, (file) => packageHash(route.name, route.version, "files", file))));
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  }, (error: unknown) => place.replaceChildren(problem(error)));
  return place;
}

/** The parameters. Below the row of the one that is touched, the files in which its fields light up. */
function parameters(shown: Shown, useCase: UseCase): Child {
  if (!useCase.setters.length) return h("p", {}, "It has no parameters.");
  const fields = h("tr", { role: "row" });
  const rows = useCase.setters.map((setter) => row(shown, useCase, setter, fields));
  return [
    h("h3", {}, "Parameters"),
    h("p", { class: "quiet" }, "Choose a parameter to see its fields."),
    table(COLUMNS, rows),
  ];
}

const COLUMNS = ["Parameter", "What it is", "Takes", "Value", "Fields"];

function row(shown: Shown, useCase: UseCase, setter: Setter, view: HTMLElement): Row {
  const fields = fieldsOf(shown.model, useCase, setter.name);
  const button = h("button", { type: "button", class: "name", "aria-expanded": "false", "aria-label": `Fields of ${setter.name}` }, setter.name);
  const toggle = (event: Event): void => {
    const own = event.currentTarget as HTMLElement;
    const isOpen = own.classList.contains("lit");
    own.parentElement?.querySelectorAll(".lit").forEach((other) => other.classList.remove("lit"));
    own.parentElement?.querySelectorAll("button.name").forEach((other) => other.setAttribute("aria-expanded", "false"));
    view.remove();
    if (isOpen) return;
    own.classList.add("lit");
    button.setAttribute("aria-expanded", "true");
    view.replaceChildren(h("td", { role: "cell", colspan: COLUMNS.length }, lit(shown, setter, fields)));
    own.after(view);
  };
  return {
    attributes: { class: "setter", click: toggle },
    cells: [
      button,
      setter.description,
      [kindOf(setter), constraintOf(setter) && h("span", { class: "quiet" }, ` ${constraintOf(setter)}`)],
      mustBeSet(setter) ? h("span", { class: "tag some" }, "to be set") : h("code", {}, shownValue(setter) || '""'),
      String(fields.length),
    ],
  };
}

const AROUND = 4; // lines that are shown on either side of a field

function lit({ model, route }: Shown, setter: Setter, fields: readonly Field[]): HTMLElement[] {
  if (!fields.length) return [h("p", {}, `${setter.name} sets no field of this use case: options use it.`)];
  const files = [...new Set(fields.map((each) => each.file))];
  return files.map((file) => {
    const lines = fields.filter((each) => each.file === file).map((each) => each.line);
    return h("div", {}, h("p", {}, link(packageHash(route.name, route.version, "files", file), file)), excerpt(textOf(model.files.get(file) ?? new Uint8Array()) ?? "", file, lines));
  });
}

/** A file's lines around some that are lit. */
function excerpt(text: string, file: string, lines: readonly number[]): HTMLElement {
  const block = code(text, file, `Fields in ${file}`);
  const isNear = (line: number): boolean => lines.some((each) => Math.abs(each - line) <= AROUND);
  [...block.querySelectorAll<HTMLElement>(".line")].forEach((line, place) => {
    if (lines.includes(place + 1)) line.classList.add("lit");
    line.classList.toggle("far", !isNear(place + 1));
  });
  return block;
}

