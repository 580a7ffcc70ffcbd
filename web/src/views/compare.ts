/** Two versions, or two packages, beside each other. */
import type { Shown } from "./look";
import { copyable, h, type Child } from "./ui";

export function compare({ route, version, page }: Shown): Child {
  const other = route.rest || route.name;
  return [h("p", {}, "The command line compares them:"), copyable(`packyard diff ${other} ${route.name}@${version.version} --from ${page.channel.source.address}`, "command that compares")];
}
