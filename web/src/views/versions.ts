/** The versions of a package in their order, the newest first. */
import type { Shown } from "./look";
import { packageHash } from "./route";
import { bytes, h, link, type Child } from "./ui";

export function versions({ found, version: shown, page }: Shown): Child {
  const newest = [...found.versions].reverse();
  return h("div", { class: "table" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Version", "State", "Size", "Digest", "Compare"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, newest.map((each, place) => h("tr", {},
      h("th", { scope: "row" }, link(packageHash(found.name, each.version), each.version), each.version === shown.version && h("span", { class: "quiet" }, " (shown)")),
      h("td", {}, each.yanked ? [h("span", { class: "tag bad" }, "yanked"), " ", each.yanked] : each.version === found.latest && h("span", { class: "tag good" }, "latest")),
      h("td", {}, h("a", { href: `${page.settings.isExport ? "" : `${page.channel.source.address}/${encodeURIComponent(each.version)}/${found.name}.tar.gz`}` || "#/" }, bytes(each.size))),
      h("td", { class: "digest" }, each.digest),
      h("td", {}, newest[place + 1] && link(packageHash(found.name, each.version, "compare", `${found.name}@${newest[place + 1]?.version ?? ""}`), `with ${newest[place + 1]?.version ?? ""}`)))))));
}
