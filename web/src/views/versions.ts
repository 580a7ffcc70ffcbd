/** The versions of a package in their order, the newest first, and those that were removed. */
import type { Shown } from "./look";
import { packageHash } from "./route";
import type { PackageRecord, Version } from "../channel/record";
import type { Page } from "../page";
import { bytes, h, link, table, type Child } from "./ui";

export function versions({ found, version: shown, page }: Shown): Child {
  const newest = [...found.versions].reverse();
  return [table(["Version", "State", "Size", "Digest", "Compare"], newest.map((each, place) => ({
    cells: [
      [link(packageHash(found.name, each.version), each.version), each.version === shown.version && h("span", { class: "quiet" }, " (shown)")],
      each.yanked ? [h("span", { class: "tag bad" }, "yanked"), " ", each.yanked] : each.version === found.latest && h("span", { class: "tag good" }, "latest"),
      archive(page, found.name, each),
      h("span", { class: "digest" }, each.digest),
      newest[place + 1] && link(packageHash(found.name, each.version, "compare", `${found.name}@${newest[place + 1]?.version ?? ""}`), `with ${newest[place + 1]?.version ?? ""}`),
    ],
  }))), removed(found)];
}

/** What was removed, and why. */
export function removed({ removed: gone }: PackageRecord): Child {
  return gone.length > 0 && h("section", {}, h("h2", {}, "Removed"), h("p", {}, "These are never published again."), table(["Version", "Why", "Digest", "Removed by"], [...gone].reverse().map((each) => ({
    cells: [each.version, each.reason, h("span", { class: "digest" }, each.digest), h("span", { class: "digest" }, each.by.join(", ") || "nobody signed that")],
  }))));
}

/** The size of a bundle, which downloads it where a host has it. */
export function archive({ settings: { place } }: Page, name: string, { version, size }: Version, ...words: Child[]): Child {
  const address = `${place}/${encodeURIComponent(version)}/${name}.tar.gz`;
  return !place ? bytes(size) : h("a", { href: address, "aria-label": !words.length && `Download ${name}@${version}, ${bytes(size)}` }, ...words, bytes(size));
}
