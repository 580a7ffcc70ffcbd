/** A package: its parts have addresses of their own, below `#/NAME` or `#/NAME@VERSION`. */
import type { Provenance } from "../channel/channel";
import { absent, choose, type PackageRecord, type Version } from "../channel/record";
import { InputError } from "../errors";
import { readBundle } from "../model/archive";
import { parsePackage, type PackageModel } from "../model/package";
import { provenanceTrust, type Page } from "../page";
import { title } from "./frame";
import { packageHash, type PackageRoute } from "./route";
import { append, h, link, problem, unloaded, waiting, type Child } from "./ui";

/** A package that is shown: what the channel lists of it, and its files. */
export interface Shown {
  readonly page: Page;
  readonly route: PackageRoute;
  readonly found: PackageRecord;
  readonly version: Version;
  readonly model: PackageModel;
  /** Whether the bundle was compared with its digest. */
  readonly isCompared: boolean;
  readonly provenance: Provenance | undefined;
}

/** What is read of a version. */
type Opened = Pick<Shown, "model" | "isCompared" | "provenance">;

type View = (shown: Shown) => Child | Promise<Child>;

const TABS = new Map<string, { label: string; load: () => Promise<View> }>([
  ["", { label: "Overview", load: async () => (await import("./overview")).overview }],
  ["use", { label: "Use cases", load: async () => (await import("./usecases")).useCases }],
  ["set", { label: "Set values", load: async () => (await import("./set")).set }],
  ["files", { label: "Files", load: async () => (await import("./files")).files }],
  ["compare", { label: "Compare", load: async () => (await import("./compare")).compare }],
  ["versions", { label: "Versions", load: async () => (await import("./versions")).versions }],
]);

export async function look(main: HTMLElement, page: Page, route: PackageRoute, isCurrent: () => boolean): Promise<void> {
  const found = await page.channel.package(route.name);
  const version = choose(found, route.version);
  if (!version) {
    const { removed } = await import("./versions").catch(unloaded);
    if (isCurrent()) main.replaceChildren(h("article", { class: "package" }, h("header", {}, crumbs(), h("h1", {}, found.name)), problem(absent(found, route.version), found.versions.length > 0 && h("p", {}, link(packageHash(found.name, "", "versions"), "All versions"))), removed(found)));
    return;
  }
  if (!isCurrent()) return;
  const tab = TABS.get(route.tab);
  if (!tab) throw new InputError(`There is no view ${route.tab.slice(0, 80)} of a package.`, `It has: ${[...TABS.values()].map((each) => each.label).join(", ")}.`);
  document.title = `${route.tab ? `${tab.label}: ` : ""}${found.name} ${version.version} – ${title(page)}`;
  const body = h("div", { class: "body" }, waiting("Reading the package's files…"));
  main.replaceChildren(h("article", { class: "package" }, heading(found, version, route), tabs(route), body));
  try {
    const [read, view] = await Promise.all([opened(page, found.name, version), tab.load().catch(unloaded)]);
    const child = await view({ page, route, found, version, ...read });
    if (!isCurrent()) return;
    body.replaceChildren();
    append(body, [child]);
  } catch (error) {
    if (isCurrent()) body.replaceChildren(problem(error, h("p", {}, link(packageHash(found.name, "", "versions"), "Other versions"))));
  }
}

const bundles = new WeakMap<Page, Map<string, Promise<Opened>>>();

/** Reads a bundle once; what failed is read again when it is asked for again. */
export function opened(page: Page, name: string, version: Version): Promise<Opened> {
  const known = bundles.get(page) ?? new Map<string, Promise<Opened>>();
  bundles.set(page, known);
  const key = `${name}@${version.version}`;
  const model = known.get(key) ?? read(page, name, version);
  known.set(key, model);
  model.catch(() => known.delete(key));
  return model;
}

async function read(page: Page, name: string, version: Version): Promise<Opened> {
  const statement = page.channel.provenance(name, version, provenanceTrust(page.proof, name));
  const [bundle, provenance] = await Promise.all([page.channel.bundle(name, version), statement]);
  const model = parsePackage(await readBundle(bundle.data));
  if (model.manifest.name !== name || model.manifest.version !== version.version) {
    throw new InputError(`The bundle says that it is ${model.manifest.name}@${model.manifest.version}, not ${name}@${version.version}.`, "Do not use it; tell whoever publishes the channel.");
  }
  return { model, isCompared: bundle.isCompared, provenance };
}

function crumbs(): HTMLElement {
  return h("p", { class: "crumbs" }, link("#/", "All packages"));
}

function heading(found: PackageRecord, version: Version, route: PackageRoute): HTMLElement {
  return h("header", {},
    crumbs(),
    h("h1", {}, found.name, " ", link(packageHash(found.name, route.version, "versions"), h("span", { class: "tag" }, version.version))),
    h("p", { class: "lead" }, version.description.split(": ")[0] ?? ""),
    version.yanked && h("p", { class: "note bad" }, h("strong", {}, `${version.version} is yanked: `), version.yanked, ". ", found.latest && link(packageHash(found.name, found.latest), `Use ${found.latest}`)),
    !version.yanked && route.version && found.latest && route.version !== found.latest && h("p", { class: "note" }, `The latest version is `, link(packageHash(found.name), found.latest), "."),
  );
}

function tabs(route: PackageRoute): HTMLElement {
  return h("nav", { class: "tabs", "aria-label": "Parts of the package" },
    [...TABS].map(([key, { label }]) => h("a", { href: packageHash(route.name, route.version, key), "aria-current": key === route.tab && "page" }, label)));
}
