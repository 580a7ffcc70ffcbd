/** Elements, made without HTML text: what a channel says can only become text and attributes. */
import { InputError, UnavailableError } from "../errors";

export type Child = Node | string | false | undefined | null | readonly Child[];
type Attributes = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  append(made, children);
  return made;
}

export function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child as readonly Child[]);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child) parent.appendChild(document.createTextNode(child as string));
  }
}

/** A link to a view of this page. */
export function link(hash: string, ...children: Child[]): HTMLAnchorElement {
  return h("a", { href: hash }, ...children);
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

export function bytes(size: number): string {
  return size < 1000 ? `${size} B` : size < 1_000_000 ? `${(size / 1000).toFixed(1)} KB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

/** A message in words, with a way on. */
export function problem(error: unknown, ...ways: Child[]): HTMLElement {
  const known = error instanceof InputError;
  if (!known) console.error(error);
  const message = known ? error.message : `This page has a fault: ${error instanceof Error ? error.message : String(error)}`;
  const hint = known ? error.hint : "Reload it; if that does not help, tell the authors of packyard.";
  return h("div", { class: "problem", role: "alert" }, h("p", {}, message), hint && h("p", { class: "hint" }, hint), ways);
}

export function waiting(what: string): HTMLElement {
  return h("p", { class: "waiting", role: "status" }, what);
}

/** A row of a table: its first cell names it. */
export interface Row {
  readonly cells: readonly Child[];
  readonly attributes?: Attributes;
}

/** A table whose cells stand below each other on narrow screens, each with its column's name. The roles are said as styles take them away. */
export function table(columns: readonly string[], rows: readonly Row[]): HTMLElement {
  const cell = (child: Child, at: number): HTMLElement =>
    h(at ? "td" : "th", { role: at ? "cell" : "rowheader", "data-column": columns[at], ...(!at && { scope: "row" }) }, child);
  return h("div", { class: "table" }, h("table", { role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((name) => h("th", { role: "columnheader", scope: "col" }, name)))),
    h("tbody", { role: "rowgroup" }, rows.map(({ cells, attributes = {} }) => h("tr", { role: "row", ...attributes }, cells.map(cell))))));
}

/** A text to copy, as commands are: lines break between words alone. */
export function copyable(text: string, label: string): HTMLElement {
  const said = h("span", { class: "said", role: "status" });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied";
    } catch {
      said.textContent = "Select the text and copy it: this browser does not let the page do it";
    }
  };
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy ${label}`, click: () => void copy() }, "Copy");
  return h("div", { class: "copyable" }, h("pre", { tabindex: 0, role: "group", "aria-label": label }, h("code", {}, text.split(/(\s+)/).map((part, at) => (at % 2 ? part : h("span", { class: "whole" }, part))))), button, said);
}

/** A file to download, made here. */
export function download(name: string, text: string, label: string): HTMLElement {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return h("button", { type: "button", click: save }, label);
}

/** Says why a part of the page itself cannot be had. */
export function unloaded(): never {
  if (!navigator.onLine) throw new UnavailableError("You are offline.", "Connect, then try again.");
  throw new UnavailableError("A part of this page cannot be loaded.", "Its host may have renewed it: reload the page.");
}
