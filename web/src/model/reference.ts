// What a setter comment refers to. Three forms, each a JSON object alone in the comment (kustomize 3.8.7):
//
//     # {"$openapi":"NAME"}                                          a setter of that name, else a substitution
//     # {"$kpt-set":"NAME"}                                          the same, as kpt 0.x writes it
//     # {"$ref":"#/definitions/io.k8s.cli.setters.NAME"}             exactly this definition

export const SETTER_PREFIX = "io.k8s.cli.setters.";
export const SUBSTITUTION_PREFIX = "io.k8s.cli.substitutions.";
const REF_PREFIX = "#/definitions/";
const MARKS = ["$openapi", "$ref", "$kpt-set"];

/** The definition that a comment names; the short form leaves its kind open. */
export interface Reference {
  readonly kind: "setter" | "substitution" | "";
  readonly name: string;
}

/** Whether a text may hold a setter comment: a search before a parse. */
export function isMarked(text: string): boolean {
  return MARKS.some((mark) => text.includes(mark));
}

/** Read a comment, its `#` included; undefined where it refers to nothing. */
export function parseReference(comment: string): Reference | undefined {
  const body = comment.replace(/^#+/, "").trim();
  if (!body.startsWith("{") || !isMarked(body)) return undefined;
  const members = membersOf(body);
  if (!members) return undefined;
  for (const key of ["$openapi", "$kpt-set"]) {
    const name = members.get(key);
    if (typeof name === "string" && [...members.values()].every((member) => typeof member === "string")) {
      return { kind: "", name: decoded(name) };
    }
  }
  const ref = members.get("$ref");
  return typeof ref === "string" ? parseRef(ref) : undefined;
}

function membersOf(body: string): Map<string, unknown> | undefined {
  try {
    return new Map(Object.entries(JSON.parse(body) as Record<string, unknown>));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Read `#/definitions/io.k8s.cli.setters.NAME` or its like for a substitution. */
export function parseRef(ref: string): Reference | undefined {
  if (!ref.startsWith(REF_PREFIX)) return undefined;
  const key = decoded(ref.slice(REF_PREFIX.length));
  if (key.startsWith(SETTER_PREFIX)) return { kind: "setter", name: key.slice(SETTER_PREFIX.length) };
  if (key.startsWith(SUBSTITUTION_PREFIX)) return { kind: "substitution", name: key.slice(SUBSTITUTION_PREFIX.length) };
  return undefined;
}

/** A name is part of a URL: `%xx` stands for another sign. */
function decoded(name: string): string {
  return name.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    const bytes = Uint8Array.from(run.slice(1).split("%"), (digits) => Number.parseInt(digits, 16));
    return new TextDecoder().decode(bytes);
  });
}
