/** A form made from the setters of a use case: it judges as one types, and writes the commands and files. */
import { choicesOf, describe, kindOf } from "../judge/describe";
import { createJudge, type Judge, type JudgeWorker, type Judgement } from "../judge/client";
import { isList, mustBeSet, shownValue, type Setter } from "../judge/setter";
import type { Verdict } from "../judge/rules";
import { changesOf, type Changes } from "../model/changes";
import { commandsFor, valuesFile } from "../model/commands";
import { FieldTypes, type FieldTable } from "../model/fieldtypes";
import type { UseCase } from "../model/package";
import fieldTypes from "../../../builder/packyard/core/kubernetes/fieldtypes.json";
import type { Shown } from "./look";
import { packageHash } from "./route";
import { append, copyable, counted, download, h, link, problem, table, type Child } from "./ui";
import { named } from "./usecases";
import { start } from "../worker";
import judgeText from "worker-text/judge";

declare const JUDGE: string;

const types = new FieldTypes(fieldTypes as unknown as FieldTable);
const PAUSE = 150; // milliseconds after a key

export function set(shown: Shown): Child {
  const { model, route } = shown;
  const useCase = route.rest ? named(model, route.rest) : model.useCases[0];
  if (!useCase) return h("p", {}, "This package has no use case.");
  const form = new Form(shown, useCase);
  return [chooser(shown, useCase), form.element];
}

function chooser({ model, route }: Shown, useCase: UseCase): HTMLElement {
  const select = h("select", { id: "use-case" }, model.useCases.map((each) => h("option", { value: each.path, selected: each === useCase }, each.name)));
  select.addEventListener("change", () => (location.hash = packageHash(route.name, route.version, "set", select.value)));
  return h("div", { class: "field" }, h("label", { for: "use-case" }, "Use case"), select, h("p", {}, useCase.description, " ", link(packageHash(route.name, route.version, "use", useCase.path), "Its objects and parameters")));
}

/** What is typed, and what follows from it. */
class Form {
  readonly element: HTMLElement;
  readonly #values = new Map<string, readonly string[]>();
  #options: string[] = [];
  #namespace = "";
  readonly #fields = h("div", {});
  /** Stays while one types, so that screen readers say what changes in it. */
  readonly #state = h("p", { role: "status" });
  readonly #commandsAndFields = h("div", {});
  readonly #outcome = h("section", { class: "outcome", "aria-label": "Commands and files", tabindex: -1 }, this.#state, this.#commandsAndFields);
  readonly #rules = h("div", {});
  #judge: Judge | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly shown: Shown,
    private readonly useCase: UseCase,
  ) {
    const form = h("form", { submit: (event) => event.preventDefault(), novalidate: true }, this.#way(), this.#optionBoxes(), this.#fields, this.#namespaceField(), this.#rules);
    this.element = h("div", { class: "set" }, form, this.#outcome);
    this.#fill();
    void this.#update();
  }

  /** On narrow screens the commands lie below a long form. */
  #way(): HTMLElement {
    const go = (): void => {
      this.#outcome.scrollIntoView();
      this.#outcome.focus({ preventScroll: true });
    };
    return h("p", { class: "narrow" }, h("button", { type: "button", click: go }, "Go to the commands"));
  }

  #setters(): Setter[] {
    const options = this.useCase.options.filter((each) => this.#options.includes(each.name)).flatMap((each) => each.setters);
    return [...new Map([...this.useCase.setters, ...options].map((each) => [each.name, each])).values()];
  }

  #optionBoxes(): Child {
    if (!this.useCase.options.length) return false;
    const boxes = this.useCase.options.map(({ name, description }) => {
      const input = h("input", { type: "checkbox", id: `option-${name}` });
      input.addEventListener("change", () => {
        this.#options = input.checked ? [...this.#options, name] : this.#options.filter((each) => each !== name);
        this.#fill();
        this.#soon();
      });
      return h("div", { class: "check" }, input, h("label", { for: `option-${name}` }, h("code", {}, name), " ", description));
    });
    return h("fieldset", {}, h("legend", {}, "Options"), h("details", {}, h("summary", {}, counted(boxes.length, "option")), boxes));
  }

  #namespaceField(): HTMLElement {
    const input = h("input", { id: "namespace", autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => {
      this.#namespace = input.value.trim();
      this.#soon();
    });
    return h("fieldset", {}, h("legend", {}, "Cluster"), h("div", { class: "field" }, h("label", { for: "namespace" }, "Namespace"), input, h("p", {}, "For the command that deploys; empty for the current one.")));
  }

  #fill(): void {
    const setters = this.#setters();
    const [required, others] = [setters.filter(mustBeSet), setters.filter((each) => !mustBeSet(each))];
    const sections: Child[] = [];
    if (required.length) sections.push(h("fieldset", {}, h("legend", {}, "To be set"), required.map((each) => this.#field(each))));
    if (others.length) sections.push(h("fieldset", {}, h("legend", {}, "May be set"), others.map((each) => this.#field(each))));
    this.#fields.replaceChildren();
    append(this.#fields, sections);
  }

  #field(setter: Setter): HTMLElement {
    const id = `set-${setter.name}`;
    const control = this.#control(setter, id);
    const said = mustBeSet(setter) ? (setter.example ? `for example ${setter.example}` : "") : `default ${shownValue(setter) || "empty"}`;
    return h("div", { class: "field", "data-setter": setter.name },
      h("label", { for: id }, setter.name),
      control,
      h("p", { id: `${id}-help` }, [setter.description, describe(setter), said].filter(Boolean).join(" · ")),
      h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" }));
  }

  #control(setter: Setter, id: string): HTMLElement {
    const choices = isList(setter) ? [] : choicesOf(setter);
    const known = this.#values.get(setter.name);
    const about = { id, "aria-describedby": `${id}-help ${id}-wrong` };
    const control = choices.length
      ? h("select", about, h("option", { value: "" }, mustBeSet(setter) ? "choose…" : `default (${shownValue(setter)})`), choices.map((each) => h("option", { value: each, selected: known?.[0] === each }, each)))
      : h("input", { ...about, autocomplete: "off", spellcheck: "false", value: known?.join(",") ?? "", inputmode: kindOf(setter) === "whole number" ? "numeric" : "text", placeholder: shownValue(setter) || setter.example || "" });
    control.addEventListener("input", () => {
      if (control.value === "") this.#values.delete(setter.name);
      else this.#values.set(setter.name, isList(setter) ? control.value.split(",").map((each) => each.trim()).filter(Boolean) : [control.value]);
      this.#soon();
    });
    return control;
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#update(), PAUSE);
  }

  async #update(): Promise<void> {
    try {
      const setters = this.#setters();
      const values = new Map([...this.#values].filter(([name]) => setters.some((each) => each.name === name)));
      const changes = changesOf(this.shown.model, this.useCase, this.#options, values, types);
      this.#judge ??= createJudge(() => start(JUDGE, judgeText) as unknown as JudgeWorker);
      const rules = [this.useCase, ...this.useCase.options.filter((each) => this.#options.includes(each.name))].flatMap((part) => part.rules);
      const question = { setters, values, rules: [...new Map(rules.map((rule) => [rule.text, rule])).values()], where: this.useCase.path, misread: changes.misread, shipped: [] };
      const judgement = await this.#judge.judge(question);
      if (this.element.isConnected || !this.#commandsAndFields.childElementCount) this.#show(judgement, changes, values, setters);
    } catch (error) {
      this.#commandsAndFields.replaceChildren(problem(error));
    }
  }

  #show(judgement: Judgement, changes: Changes, values: ReadonlyMap<string, readonly string[]>, setters: readonly Setter[]): void {
    for (const { name } of setters) this.#mark(name, judgement);
    this.#rules.replaceChildren(...ruleList(judgement.rules));
    const missing = setters.filter((each) => mustBeSet(each) && !values.has(each.name)).map((each) => each.name);
    const isRight = !judgement.problems.size && !judgement.rules.some((each) => each.state === "broken") && !changes.problems.length;
    const [kind, words] = state(isRight, missing, judgement);
    this.#state.className = `note ${kind}`;
    if (this.#state.textContent !== words) this.#state.textContent = words;
    this.#commandsAndFields.replaceChildren();
    append(this.#commandsAndFields, [
      changes.problems.map((each) => h("p", { class: "note bad" }, each)),
      isRight && this.#commands(values),
      isRight && fields(changes, this.shown),
    ]);
  }

  #mark(name: string, { problems, unjudged }: Judgement): void {
    const control = this.#fields.querySelector(`#${CSS.escape(`set-${name}`)}`);
    const wrong = this.#fields.querySelector(`#${CSS.escape(`set-${name}-wrong`)}`);
    const found = problems.get(name);
    control?.setAttribute("aria-invalid", String(found !== undefined));
    const meant = found?.meant.length ? ` Did you mean ${found.meant.join(", ")}?` : "";
    const words = found ? `${found.message}.${meant}` : unjudged.includes(name) ? "not judged: it takes too long" : "";
    if (wrong && wrong.textContent !== words) wrong.textContent = words;
  }

  #commands(values: ReadonlyMap<string, readonly string[]>): Child {
    const { model, page, route, version } = this.shown;
    const source = page.channel.source.address;
    const host = /^https?:/.test(source) ? source : page.settings.place; // a folder's or a bucket's is read from there
    const asked = { model, useCase: this.useCase, options: this.#options, values, channel: source, bundle: `${host}/${encodeURIComponent(version.version)}/${route.name}.tar.gz`, ...(this.#namespace && { namespace: this.#namespace }) };
    const { run, steps, plain } = commandsFor(asked);
    const file = valuesFile(asked, `Values of ${route.name}@${version.version}, ${this.useCase.name}`);
    return [
      h("h2", {}, "Run it"), copyable(run, "command that runs it"),
      h("p", { class: "quiet" }, "It asks the cluster that kubectl reaches whether it can run there, then deploys it."),
      h("details", {}, h("summary", {}, "In steps"), copyable(steps, "commands in steps")),
      h("details", {}, h("summary", {}, "Without packyard"), copyable(plain, "commands without packyard"),
        h("p", { class: "quiet" }, "kustomize 3.8.7 to 4.5.7 has cfg set.")),
      h("details", {}, h("summary", {}, "As a file"), copyable(file, "values file"),
        h("p", { class: "buttons" }, download("values.yaml", file, "Download values.yaml"), download(`${this.useCase.name.replaceAll("/", "-")}.yaml`, file, "Download as a preset")),
        h("p", { class: "quiet" }, "packyard set DIR --values values.yaml reads it; a preset lies in presets/ of a package.")),
    ];
  }
}

function ruleList(rules: readonly Verdict[]): HTMLElement[] {
  if (!rules.length) return [];
  const words = { holds: "holds", broken: "is broken", waits: "waits for a value", "not judged": "is not judged" };
  const kinds = { holds: "good", broken: "bad", waits: "some", "not judged": "some" };
  return [h("h3", {}, "Rules"), h("ul", { class: "rules" }, rules.map(({ rule, state: found, words: why, hint }) => h("li", {}, h("span", { class: `tag ${kinds[found]}` }, words[found]), " ", why || rule.message || rule.text, hint && h("span", { class: "quiet" }, ` ${hint}`))))];
}

function state(isRight: boolean, missing: readonly string[], judgement: Judgement): [string, string] {
  if (!isRight) return ["bad", `${counted(judgement.problems.size || 1, "value")} cannot be used yet; the form says why.`];
  if (missing.length) return ["some", `Still to be set: ${missing.join(", ")}.`];
  return ["good", "All that has to be set is set."];
}

function fields(changes: Changes, { route }: Shown): Child {
  const changed = changes.fields.filter((each) => each.before !== each.after);
  if (!changed.length && !changes.enabled.length) return h("p", { class: "quiet" }, "Nothing changes yet.");
  const set = changed.map(({ file, line, path, before, after }): Child[] => [[link(packageHash(route.name, route.version, "files", file), `${file.slice(file.lastIndexOf("/") + 1)}:${line}`), h("br"), h("span", { class: "path" }, path)], h("del", {}, before || '""'), h("ins", {}, after)]);
  const enabled = changes.enabled.map(({ file, line }): Child[] => [file, false, h("ins", {}, line)]);
  return [h("h2", {}, "What changes"), table(["Field", "Before", "After"], [...set, ...enabled].map((cells) => ({ cells }))),
    changes.idle.length > 0 && h("p", { class: "note some" }, `These set no field here: ${changes.idle.join(", ")}.`)];
}
