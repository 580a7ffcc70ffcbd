/** A package's page. */
import { choose, type PackageRecord, type Version } from "../channel/record";
import { InputError } from "../errors";
import type { Page } from "../page";
import { title } from "./frame";
import { packageHash, type PackageRoute } from "./route";
import { bytes, copyable, h, link } from "./ui";

export async function look(main: HTMLElement, page: Page, route: PackageRoute, isCurrent: () => boolean): Promise<void> {
  const found = await page.channel.package(route.name);
  const version = choose(found, route.version);
  if (!version) throw new InputError(`${route.name} has no version ${route.version.slice(0, 80)}.`, `It has ${found.versions.map((each) => each.version).slice(-5).join(", ")}.`);
  if (!isCurrent()) return;
  document.title = `${found.name} ${version.version} – ${title(page)}`;
  main.replaceChildren(h("article", { class: "package" }, heading(found, version), copyable(`packyard get ${found.name}@${version.version} --from ${page.channel.source.address}`, "command to get it"), versions(found)));
}

function heading(found: PackageRecord, version: Version): HTMLElement {
  return h("header", {}, h("p", {}, link("#/", "All packages")), h("h1", {}, found.name), h("p", {}, version.description), version.yanked && h("p", { class: "note bad" }, `${version.version} is yanked: ${version.yanked}`));
}

function versions(found: PackageRecord): HTMLElement {
  return h("ul", {}, [...found.versions].reverse().map((each) => h("li", {}, link(packageHash(found.name, each.version), each.version), ` ${bytes(each.size)} ${each.yanked}`)));
}
