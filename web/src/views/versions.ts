/** The versions of a package in their order, the newest first. */
import type { Shown } from "./look";
import { packageHash } from "./route";
import type { Version } from "../channel/record";
import type { Page } from "../page";
import { bytes, h, link, table, type Child } from "./ui";

export function versions({ found, version: shown, page }: Shown): Child {
  const newest = [...found.versions].reverse();
  return table(["Version", "State", "Size", "Digest", "Compare"], newest.map((each, place) => ({
    cells: [
      [link(packageHash(found.name, each.version), each.version), each.version === shown.version && h("span", { class: "quiet" }, " (shown)")],
      each.yanked ? [h("span", { class: "tag bad" }, "yanked"), " ", each.yanked] : each.version === found.latest && h("span", { class: "tag good" }, "latest"),
      archive(page, found.name, each),
      h("span", { class: "digest" }, each.digest),
      newest[place + 1] && link(packageHash(found.name, each.version, "compare", `${found.name}@${newest[place + 1]?.version ?? ""}`), `with ${newest[place + 1]?.version ?? ""}`),
    ],
  })));
}

/** The size of a bundle, which downloads it where a host has it. */
export function archive({ settings: { place } }: Page, name: string, { version, size }: Version, ...words: Child[]): Child {
  const address = `${place}/${encodeURIComponent(version)}/${name}.tar.gz`;
  return !place ? bytes(size) : h("a", { href: address, "aria-label": !words.length && `Download ${name}@${version}, ${bytes(size)}` }, ...words, bytes(size));
}
