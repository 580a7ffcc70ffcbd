// One difference between two packages, as their users meet it.

import type { Value } from "../judge/scalar";

export type What =
  | "package" | "use case" | "option" | "base" | "overlay" | "setter" | "substitution" | "rule" | "requirement" | "object" | "field" | "file";

/**
 * `where` is the directory (empty: the package itself), `path` that of a field in the object `name`, or says what of a
 * definition differs: `default`, `required`, `type`. `setter` sets the field now; `note` says what replaced what was
 * removed, or why a file was not compared by fields. A value that is not there is undefined.
 */
export interface Change {
  readonly where: string;
  readonly what: What;
  readonly change: "added" | "removed" | "changed" | "reordered" | "bound";
  readonly name: string;
  readonly path: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly setter: string;
  readonly note: string;
}

/** A change of which most parts are empty. */
export function changeOf(parts: Pick<Change, "where" | "what" | "change"> & Partial<Change>): Change {
  return { name: "", path: "", before: undefined, after: undefined, setter: "", note: "", ...parts };
}

const PARTS: readonly What[] = ["use case", "base", "option", "overlay"];

/** Whether who relies on it has to act: a name is gone, a setter has another type, or has to be set now. */
export function isBreaking({ what, change, path, after }: Change): boolean {
  if (change === "removed") return what === "package" || what === "setter" || PARTS.includes(what);
  if (what !== "setter") return false;
  const isOpen = change === "added" && (after ?? null) === null;
  return isOpen || path === "type" || (path === "required" && after === true);
}
