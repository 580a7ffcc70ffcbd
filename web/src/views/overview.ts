/** What a package is: its README, its facts, what a cluster needs, and how to get it. */
import type { Requirement } from "./words";
import { requirements } from "./words";
import type { Shown } from "./look";
import { readme } from "./readme";
import { packageHash } from "./route";
import { archive } from "./versions";
import { bytes, copyable, counted, h, link, type Child } from "./ui";

export async function overview(shown: Shown): Promise<Child> {
  const { model, version, route, page } = shown;
  return h("div", { class: "columns" },
    h("section", { class: "readme", "aria-label": "README" }, model.readme ? await readme(model.readme) : h("p", {}, "This package has no README.")),
    h("div", { class: "side" },
      h("section", {}, h("h2", {}, "Get it"), copyable(`packyard get ${route.name}@${version.version} --from ${page.channel.source.address}`, "command that gets the package"), h("p", {}, archive(page, route.name, version, "Download it: ")), h("p", {}, link(packageHash(route.name, route.version, "set"), "Set values, and get the commands"))),
      facts(shown),
      needs(requirements(model)),
      model.manifest.images.length > 0 && h("section", {}, h("h2", {}, "Images"), h("ul", {}, model.manifest.images.map((image) => h("li", {}, h("code", {}, image))))),
      proof(shown),
    ),
  );
}

function facts({ model, version, route }: Shown): HTMLElement {
  const rows: [string, Child][] = [
    ...[...model.manifest.model].map(([key, value]): [string, Child] => [key === "name" ? "model" : key, value]),
    ["use cases", link(packageHash(route.name, route.version, "use"), counted(model.useCases.length, "use case"))],
    ["size", `${bytes(version.size)}, ${counted(model.files.size, "file")}`],
    ["Kubernetes", model.manifest.kubernetes.length ? `${model.manifest.kubernetes[0]} to ${model.manifest.kubernetes.at(-1)}` : ""],
  ];
  return h("section", {}, h("h2", {}, "Facts"), h("dl", {}, rows.filter(([, value]) => value).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
}

function needs(found: readonly Requirement[]): Child {
  return found.length > 0 && h("section", {}, h("h2", {}, "What the cluster needs"), h("ul", {}, found.map(({ words, useCases, link: address }) => h("li", {}, address ? h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, words) : words, useCases && h("span", { class: "quiet" }, ` (${useCases})`)))));
}

/** What its provenance proves. */
function signed({ provenance, page }: Shown): string {
  if (!provenance) return "It has no provenance: nothing says how it was built.";
  const { signers, others } = provenance;
  if (signers.length) return `Its provenance is signed by ${signers.join(", ")}, whose signature is verified.`;
  if (!others.length) return "Its provenance is not signed.";
  return page.proof.keys.length ? `Its provenance is signed by ${others.join(", ")}, which is not a key that counts here: not verified.` : "Its provenance is signed; the signature was not checked: this page has no key.";
}

function proof(shown: Shown): HTMLElement {
  const { version, isCompared } = shown;
  return h("section", {}, h("h2", {}, "Verified"),
    h("p", {}, isCompared ? "What is shown has the digest that the index gives." : "Nothing was compared: this page is not on https."),
    h("p", { class: "digest" }, version.digest),
    h("p", {}, signed(shown)),
    h("p", {}, link("#trust", "What that proves")));
}
