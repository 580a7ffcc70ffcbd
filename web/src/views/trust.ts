/** What is verified, by which key, and what that means. */
import { HAS_CRYPTO } from "../channel/digest";
import { forgetKey, giveKey, memory, readKey, type Page, type Settings } from "../page";
import { title } from "./frame";
import type { Route } from "./route";
import { h, link, problem, type Child } from "./ui";

export function trust(main: HTMLElement, page: Page, reopen: () => void): void {
  document.title = `What is verified – ${title(page)}`;
  const { head } = page.channel;
  main.replaceChildren(
    h("article", { class: "trust" },
      h("p", {}, link("#/", "All packages")),
      h("h1", {}, "What is verified"),
      said(page),
      h("dl", {},
        h("dt", {}, "Channel"), h("dd", {}, h("code", {}, page.channel.source.address)),
        h("dt", {}, "Its id"), h("dd", {}, h("code", {}, head.channel || "none: it is of an early release")),
        h("dt", {}, "Change"), h("dd", {}, `${head.number} `, h("code", { class: "digest" }, head.digest)),
        ids("Signed by, verified", head.signers),
        ids("Names as signers, not verified", head.others),
        root(page),
        ids("Revoked keys", [...new Set([...head.revoked, ...page.proof.trust.revoked])])),
      form(page.settings, page.proof.from === "reader", reopen),
      h("h2", {}, "What this browser remembers"),
      h("p", {}, "It remembers the last change of this channel that it saw. A channel that is older, has another history, or revokes less, is refused."),
      h("button", { type: "button", click: () => forget(page.settings, reopen) }, "Forget it"),
      h("h2", {}, "The same in a shell"),
      h("p", {}, "This page proves no more than the host that serves it. The command line checks the same files with a key on your own machine: ", h("code", {}, "packyard keys trust FILE"), ", then ", h("code", {}, `packyard get NAME --from ${page.channel.source.address}`), ".")),
  );
}

/** What the root says of who signs. */
function root({ proof: { followed, trust }, channel: { head } }: Page): Child {
  if (!followed) return false;
  const { root: found } = followed;
  return [
    h("dt", {}, "Root of keys"), h("dd", {}, `version ${found.version}, until ${new Date(found.expires).toISOString().slice(0, 10)}`),
    h("dt", {}, "Heads are signed by"), h("dd", {}, `${trust.threshold ?? 1} of ${trust.keys.length} keys${head.expires ? `; this one is valid until ${head.expires}` : ""}`),
    found.packages.length > 0 && [h("dt", {}, "Packages signed by others"), found.packages.map((each) => h("dd", {}, `${each.paths.join(", ")}: ${each.threshold} of ${each.keyids.length} keys`))],
  ];
}

function ids(label: string, found: readonly string[]): Child {
  return found.length > 0 && [h("dt", {}, label), found.map((id) => h("dd", {}, h("code", { class: "digest" }, id)))];
}

function said({ channel: { head }, proof, settings }: Page): Child {
  if (!HAS_CRYPTO) {
    return h("p", { class: "note bad" }, "Nothing is verified. This page came over plain http, where browsers allow no cryptography. Anybody between you and the host can change what you see. Open it over https, or use the command line.");
  }
  const digests = settings.isExport
    ? "This file holds the packages itself. What is shown of them is compared with the digests in it."
    : "Every part of the index and every bundle that is shown is compared with its digest, which begins at the index's head.";
  return [h("p", { class: "note" }, digests), h("p", { class: `note ${proof.from === "reader" ? "good" : "some"}` }, aboutKey(head.signers.length > 0, head.others.length > 0, proof.from))];
}

function aboutKey(isVerified: boolean, isSigned: boolean, from: string): string {
  if (isVerified && from === "reader") return "The head is signed by the key that you gave. Whoever has that key made this channel, as long as you trust the host of this page to run the page that it should.";
  if (isVerified) return "The head is signed by the key that this page's host names. Page and key come from the same place: this proves that nobody changed the channel behind the page's back, and not who made it. Paste the key that its publisher gave you by another way.";
  if (isSigned) return "The head says that it is signed, and this page has no key to check that. Paste the publisher's public key.";
  return "The head is not signed: nothing proves who made this channel. The digests only show that its parts belong together.";
}

/** Takes a public key from the reader, and keeps it in this browser. */
export function form({ source }: Settings, hasKey: boolean, reopen: () => void): HTMLElement {
  const area = h("textarea", { id: "key", rows: 4, spellcheck: "false", placeholder: "-----BEGIN PUBLIC KEY-----" });
  const answer = h("div", {});
  const give = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      giveKey(source.address, await readKey(area.value));
      reopen();
    } catch (error) {
      answer.replaceChildren(problem(error));
    }
  };
  const drop = (): void => {
    forgetKey(source.address);
    reopen();
  };
  return h("form", { class: "key", submit: (event) => void give(event) },
    h("h2", {}, "The publisher's key"),
    h("p", {}, "Get it from the publisher by another way than this page. It is kept in this browser, for this channel."),
    h("label", { for: "key" }, "Public key (PEM), or a root of keys"),
    area,
    h("p", {}, h("button", { type: "submit", disabled: !HAS_CRYPTO }, "Verify with this key"), " ",
      hasKey && h("button", { type: "button", click: drop }, "Forget your key")),
    answer,
  );
}

function forget(settings: Settings, reopen: () => void): void {
  memory(settings.source.address).forget();
  reopen();
}

/** Ways on after a failure: another key, or to forget what is remembered. */
export function ways(settings: Settings, route: Route, isAboutTrust: boolean, reopen: () => void): Child {
  const again = h("button", { type: "button", click: () => forget(settings, reopen) }, "Forget what this browser remembers");
  return [
    " ",
    route.view !== "find" && h("a", { href: "#/" }, "All packages"),
    isAboutTrust && h("details", {}, h("summary", {}, "Keys, and what is remembered"), h("p", {}, again), form(settings, true, reopen)),
  ];
}
