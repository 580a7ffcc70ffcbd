/** The header and footer of all views: the channel, what is proved of it, and where the page comes from. */
import { HAS_CRYPTO } from "../channel/digest";
import type { Page } from "../page";
import { h, link } from "./ui";

export function title(page: Page): string {
  return page.settings.title || "Packages";
}

export function frame(page: Page): void {
  const top = document.getElementById("top") as HTMLElement;
  const { word, kind } = verdict(page);
  top.replaceChildren(
    h("a", { class: "home", href: "#/" }, title(page)),
    h("a", { class: `badge ${kind}`, href: "#trust" }, word),
  );
  const bottom = document.getElementById("bottom") as HTMLElement;
  bottom.replaceChildren(
    h("p", {}, "Channel ", h("code", {}, page.channel.source.address), `, change ${page.channel.head.number}. `, link("#trust", "What is verified")),
  );
}

/** What is proved of the channel's index, in few words. */
export function verdict({ channel, proof, settings }: Page): { word: string; kind: string } {
  if (!HAS_CRYPTO) return { word: "Nothing verified", kind: "bad" };
  if (channel.head.signers.length) return proof.from === "host" && !settings.isExport ? { word: "Signed: host's key", kind: "some" } : { word: "Signature verified", kind: "good" };
  return channel.head.others.length ? { word: "Signed, not checked", kind: "some" } : { word: "Not signed", kind: "some" };
}
