/** The list of packages: words and filters narrow it as one types. */
import { counted as counts, facets, search, words, type Found, type Listing, type Query, type Summary } from "../channel/listing";
import type { Page } from "../page";
import { title } from "./frame";
import { findHash, packageHash, type FindRoute } from "./route";
import { append, counted, h, link, problem, waiting } from "./ui";

const FACTS = ["framework", "category", "mode", "precision"];
const ENOUGH = 60;
const PARTS = new Map([
  ["topology", "Topology"],
  ["storage", "Storage"],
]);

/** Parts of the paths of use cases, `quickstart/mlops/multi-node/user-mounted-nfs`, by what they say. */
const STORAGE = /pvc|nfs|claim|bucket|host-path|none|storage|volume/;
const LIBRARY = 2; // the first folders of a path say where a use case lies, not what it is

export async function find(main: HTMLElement, page: Page, route: FindRoute, isCurrent: () => boolean): Promise<void> {
  document.title = title(page);
  const listing = await page.channel.listing();
  if (!isCurrent()) return;
  const view = main.querySelector<HTMLElement>("[data-view=find]") ?? made(page, listing);
  await fill(view, listing, route.params, isCurrent, () => view.isConnected || main.replaceChildren(view));
}

/** The parts that stay while one types. */
function made(page: Page, listing: Listing): HTMLElement {
  const input = h("input", { type: "search", id: "q", name: "q", autocomplete: "off", spellcheck: "false", placeholder: "Name, model, framework, use case…" });
  input.addEventListener("input", () => change((params) => (input.value.trim() ? params.set("q", input.value) : params.delete("q"))));
  const form = h("form", { role: "search", class: "search", submit: (event) => event.preventDefault() }, h("label", { for: "q" }, "Search packages"), input);
  const view = h("div", { "data-view": "find", class: "find" },
    h("h1", {}, title(page)),
    h("p", { class: "lead" }, "Packages for Kubernetes: read what they do, set their values here, and copy the commands that run them."),
    form,
    h("aside", { class: "filters", "aria-label": "Filters" }),
    h("section", { class: "results", "aria-label": "Packages" }, h("p", { class: "count", role: "status" }), h("div", {})),
  );
  if (!page.settings.isExport && listing.parts.length) view.append(newest(page));
  return view;
}

function change(apply: (params: URLSearchParams) => void): void {
  const params = new URLSearchParams(location.hash.split("?")[1] ?? "");
  apply(params);
  history.replaceState(null, "", findHash(params));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

function queryOf(params: URLSearchParams): Query {
  const facts = FACTS.flatMap((key) => (params.get(key) ? [[key, params.get(key) ?? ""] as const] : []));
  return { words: words(params.get("q") ?? ""), facts: new Map(facts), parts: params.getAll("with"), need: params.get("needs") ?? "" };
}

async function fill(view: HTMLElement, listing: Listing, params: URLSearchParams, isCurrent: () => boolean, show: () => void): Promise<void> {
  const input = view.querySelector("input") as HTMLInputElement;
  if (document.activeElement !== input) input.value = params.get("q") ?? "";
  const [status, list] = view.querySelector(".results")?.children as unknown as [HTMLElement, HTMLElement];
  const query = queryOf(params);
  const enough = Number(params.get("show")) || ENOUGH;
  try {
    for await (const found of search(listing, query, enough)) {
      if (!isCurrent()) return;
      status.textContent = said(found, enough);
      list.replaceChildren(...rows(found, query, enough));
      filters(view.querySelector(".filters") as HTMLElement, found, params);
      show(); // with all parts in it, so that none moves another
    }
  } catch (error) {
    if (!isCurrent()) return;
    list.replaceChildren(problem(error));
    show();
  }
}

/** How many packages are found. */
function said({ packages, searched, of }: Found, enough: number): string {
  const isWhole = searched === of;
  if (!isWhole && packages.length < enough) return `${counted(packages.length, "package")} so far; ${Math.round((100 * searched) / of)} % of the list is searched…`;
  if (isWhole && packages.length <= enough) return counted(packages.length, "package");
  return `${counted(Math.min(packages.length, enough), "package")} of ${isWhole ? packages.length.toLocaleString("en") : "more"}`;
}

function rows({ packages, searched, of }: Found, query: Query, enough: number): HTMLElement[] {
  const isWhole = searched === of;
  if (!packages.length && isWhole) return [nothing(query)];
  const more = packages.length > enough || !isWhole;
  const button = h("button", { type: "button", click: () => change((params) => params.set("show", String(enough * 4))) }, "Show more");
  return [h("ul", { class: "cards" }, packages.slice(0, enough).map(card)), ...(more && packages.length >= enough ? [button] : [])];
}

function nothing(query: Query): HTMLElement {
  const asked = query.words.length || query.facts.size || query.parts.length || query.need;
  if (!asked) return h("p", {}, "This channel has no packages yet.");
  return h("p", {}, "No package has all of these. ", link("#/", "Show all packages"));
}

function card(each: Summary): HTMLElement {
  const facts = [...new Set(FACTS.flatMap((key) => each.model.get(key) ?? []))].filter((fact) => fact !== "none");
  return h("li", { class: "card" },
    h("h2", {}, link(packageHash(each.name), each.name)),
    h("p", { class: "title" }, each.title),
    h("p", { class: "facts" }, facts.map((fact) => h("span", { class: "fact" }, fact))),
    h("p", { class: "quiet" }, `${each.version}${each.useCases.length ? ` · ${counted(each.useCases.length, "use case")}` : ""}`),
  );
}

function filters(aside: HTMLElement, found: Found, params: URLSearchParams): void {
  const groups = facets(found.packages, FACTS).filter(({ key, values }) => values.length > 1 || params.has(key));
  const selects = groups.map(({ key, values }) => choice(key, key, values, params.get(key) ?? "", (value, next) => (value ? next.set(key, value) : next.delete(key))));
  const open = aside.querySelector("details")?.open ?? matchMedia("(min-width: 60rem)").matches;
  const parts = [...PARTS].map(([kind, label]) => partChoice(kind, label, found.packages, params));
  const needs = counts(found.packages.flatMap((each) => each.needs));
  const need = params.get("needs") ?? "";
  if (needs.length || need) parts.push(choice("needs", "Needs", needs, need, (value, next) => (value ? next.set("needs", value) : next.delete("needs"))));
  const focused = document.activeElement?.id;
  aside.replaceChildren(h("details", { open }, h("summary", {}, "Filters"), selects, parts));
  if (focused) aside.querySelector<HTMLElement>(`#${CSS.escape(focused)}`)?.focus();
}

function choice(id: string, label: string, values: readonly (readonly [string, number])[], now: string, set: (value: string, params: URLSearchParams) => void): HTMLElement {
  const select = h("select", { id: `by-${id}` }, h("option", { value: "" }, "any"));
  append(select, values.map(([value, count]) => h("option", { value, selected: value === now }, `${value} (${count})`)));
  if (now && !values.some(([value]) => value === now)) select.append(h("option", { value: now, selected: true }, now));
  select.addEventListener("change", () => change((params) => set(select.value, params)));
  return h("div", { class: "filter" }, h("label", { for: `by-${id}` }, label.charAt(0).toUpperCase() + label.slice(1)), select);
}

/** Filters by a part of the paths of use cases. */
function partChoice(kind: string, label: string, packages: readonly Summary[], params: URLSearchParams): HTMLElement {
  const own = (part: string): boolean => part !== "options" && STORAGE.test(part) === (kind === "storage");
  const values = counts(packages.flatMap((each) => [...new Set(each.useCases.flatMap((path) => path.split("/").slice(LIBRARY)))]).filter(own));
  const now = params.getAll("with").find(own) ?? "";
  return choice(kind, label, values, now, (value, next) => {
    const others = next.getAll("with").filter((part) => !own(part));
    next.delete("with");
    for (const part of [...others, ...(value ? [value] : [])]) next.append("with", part);
  });
}

function newest(page: Page): HTMLElement {
  const body = h("div", {});
  const load = async (): Promise<void> => {
    body.replaceChildren(waiting("Reading the last changes…"));
    try {
      const changes = await page.channel.newest(5);
      body.replaceChildren(h("ul", {}, changes.map(({ number, packages }) => h("li", {}, `Change ${number}: `, packages.slice(0, 20).map((name, at) => [at ? ", " : "", link(packageHash(name), name)]), packages.length > 20 && ` and ${packages.length - 20} more`))));
    } catch (error) {
      body.replaceChildren(problem(error));
    }
  };
  return h("details", { class: "newest", toggle: (event) => void ((event.target as HTMLDetailsElement).open && !body.childElementCount && load()) }, h("summary", {}, "What is newest"), body);
}

