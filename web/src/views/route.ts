/** The addresses of views, behind the `#`: they stay the same, so that people can link to them. */
export interface FindRoute {
  readonly view: "find";
  readonly params: URLSearchParams;
}

export interface PackageRoute {
  readonly view: "package";
  readonly name: string;
  /** Empty for the latest. */
  readonly version: string;
  readonly tab: string;
  /** What follows the tab: a file, a use case, or another package. */
  readonly rest: string;
}

export type Route = FindRoute | PackageRoute | { readonly view: "trust" };

/** Reads `#/`, `#/?q=bert`, `#/NAME`, `#/NAME@VERSION/files/PATH`, `#trust`. */
export function parseRoute(hash: string): Route {
  if (hash === "#trust") return { view: "trust" };
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [first = "", tab = "", ...rest] = path.split("/").map(decoded);
  if (!first) return { view: "find", params: new URLSearchParams(query) };
  const [name = "", version = ""] = first.split("@");
  return { view: "package", name, version, tab, rest: rest.join("/") };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function findHash(params: URLSearchParams): string {
  const query = params.toString();
  return query ? `#/?${query}` : "#/";
}

export function packageHash(name: string, version = "", tab = "", rest = ""): string {
  const parts = [version ? `${name}@${version}` : name, tab, ...rest.split("/")].filter(Boolean);
  return `#/${parts.map((part) => encodeURIComponent(part).replaceAll("%40", "@")).join("/")}`;
}
