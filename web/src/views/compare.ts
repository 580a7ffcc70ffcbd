/** Two versions, or two packages, beside each other: what differs, in the words of `packyard diff`. */
import type { Change } from "../compare/change";
import { compare as differences } from "../compare/compare";
import { grouped, type Group } from "../compare/report";
import { absent, choose, type PackageRecord, type Version } from "../channel/record";
import { FieldTypes, type FieldTable } from "../model/fieldtypes";
import table from "../../../builder/packyard/core/kubernetes/fieldtypes.json";
import { opened, type Shown } from "./look";
import { packageHash } from "./route";
import { copyable, counted, h, link, type Child } from "./ui";

const types = new FieldTypes(table as unknown as FieldTable);
const MOST = 400; // changes that are shown at first
const KINDS = new Map<Change["what"], string>([
  ["setter", "parameter"], ["substitution", "substitution"], ["rule", "rule"], ["requirement", "need of the cluster"], ["object", "object"], ["field", "field"], ["file", "file"],
]);

/** Reads the other package that the address names, and shows what is other in the one that is shown. */
export async function compare(shown: Shown): Promise<Child> {
  const { found, version, page, route } = shown;
  const [name = "", asked = ""] = (route.rest || `${route.name}@${before(found, version)}`).split("@");
  const other = name === found.name ? found : await page.channel.package(name);
  const known = choose(other, asked);
  if (!known) throw absent(other, asked);
  const form = chooser(shown, other, known);
  if (other === found && known.version === version.version) {
    return [form, h("p", {}, found.versions.length > 1 ? "Choose another version, or another package." : "There is no other version yet. Name another package.")];
  }
  const { model } = await opened(page, other.name, known);
  const changes = differences(model.files, shown.model.files, types);
  const from = `${other.name}@${known.version}`;
  const to = `${found.name}@${version.version}`;
  return [
    form,
    h("p", { role: "status", class: "count" }, summary(changes, from, to)),
    breaks(changes),
    groups(changes),
    h("h2", {}, "On the command line"),
    copyable(`packyard diff ${from} ${to} --from ${page.channel.source.address}`, "command that compares"),
  ];
}

/** The version before one. */
function before({ versions }: PackageRecord, { version }: Version): string {
  const place = versions.findIndex((each) => each.version === version);
  return versions[Math.max(0, place - 1)]?.version ?? version;
}

function chooser({ route, version, page }: Shown, other: PackageRecord, known: Version): HTMLElement {
  const name = h("input", { id: "compare-name", value: other.name, autocomplete: "off", spellcheck: "false" });
  const select = h("select", { id: "compare-version" }, [...other.versions].reverse().map((each) =>
    h("option", { value: each.version, selected: each.version === known.version }, each.version + (each.yanked ? " (yanked)" : ""))));
  const go = (to: string): void => {
    location.hash = packageHash(route.name, version.version, "compare", to);
  };
  select.addEventListener("change", () => go(`${other.name}@${select.value}`));
  const renamed = (): void => {
    const wanted = name.value.trim();
    if (wanted !== other.name) void page.channel.package(wanted).then(({ latest, versions }) => go(`${wanted}@${latest || (versions.at(-1)?.version ?? "")}`), () => go(wanted));
  };
  return h("form", { class: "beside", submit: (event) => { event.preventDefault(); renamed(); } },
    h("div", { class: "field" }, h("label", { for: "compare-name" }, "From the package"), name),
    h("div", { class: "field" }, h("label", { for: "compare-version" }, "Its version"), select),
    h("p", { class: "buttons" }, h("button", { type: "submit" }, "Compare"),
      link(packageHash(other.name, known.version, "compare", `${route.name}@${version.version}`), "The other way round")));
}

function summary(changes: readonly Change[], from: string, to: string): string {
  if (!changes.length) return `${from} and ${to} are the same.`;
  const counts = [...KINDS].map(([what, word]) => [changes.filter((each) => each.what === what).length, word] as const).filter(([count]) => count > 0);
  const parts = changes.filter((each) => !KINDS.has(each.what)).length;
  const named = [...(parts ? [counted(parts, "use case or option", "use cases and options")] : []), ...counts.map(([count, word]) => counted(count, word, word === "need of the cluster" ? "needs of the cluster" : `${word}s`))];
  return `From ${from} to ${to} differ: ${named.join(", ")}.`;
}

/** What who relies on it has to act on. */
function breaks(changes: readonly Change[]): Child {
  const found = grouped(changes).map((group) => ({ ...group, changes: group.changes.filter((each) => each.isBreaking) })).filter((group) => group.changes.length);
  if (!changes.length) return false;
  if (!found.length) return h("p", { class: "note" }, "Nothing breaks: no name is gone, and nothing more has to be set.");
  return h("section", { class: "note bad", "aria-label": "What breaks" }, h("h2", {}, "What breaks"), found.map((group) => list(group)));
}

function groups(changes: readonly Change[]): Child {
  const all = grouped(changes);
  const section = h("section", { "aria-label": "What differs" });
  const show = (most: number): void => {
    let left = most;
    const parts = all.flatMap((group) => {
      const some = group.changes.slice(0, left);
      left -= some.length;
      return some.length ? [list({ ...group, changes: some })] : [];
    });
    const hidden = all.reduce((sum, group) => sum + group.changes.length, 0) - most;
    section.replaceChildren(...(all.length ? [h("h2", {}, "What differs")] : []), ...parts);
    if (hidden > 0) section.append(h("button", { type: "button", click: () => show(Infinity) }, `Show ${counted(hidden, "more change")}`));
  };
  show(MOST);
  return section;
}

function list({ places, changes }: Group): HTMLElement {
  return h("div", { class: "changes" },
    h("p", { class: "places" }, places.map((place, at) => [at > 0 && ", ", h("code", {}, place || "the package")])),
    h("ul", {}, changes.map(({ words, isBreaking, change }) => h("li", { class: change.change },
      isBreaking && [h("span", { class: "tag bad" }, "breaking"), " "], words))));
}
