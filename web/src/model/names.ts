// Which names a package may bring: those that mean the same file on every file system, and have no special meaning.
// The same rules as packyard's core/files/filenames.py.

import { literal } from "../judge/words";

/** Paths by their folded spelling, as first spelled, and whether each is a file. */
export type Claimed = Map<string, { readonly path: string; readonly isFile: boolean }>;

const UNSEEN = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g; // invisible characters, which HFS+ ignores
const FORBIDDEN = /[\x00-\x1f\x7f-\x9f\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]/u;
const SIGNS = /[<>:"|?*]/;
const PACKYARDS = /^(?:\.packyard-.*|\.packyard\.json|.*\.packyard-new)$/;
const SHORT = /^(?:git|hg|svn|bzr|packya)~[0-9]+(?:\..*)?$/;
const VERSION_CONTROL = /^\.(?:git|hg|svn|bzr)$/;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9]) *(?:\..*)?$/;
const LENGTH = 512;
const DEPTH = 32;

/** What is wrong with one path; an empty text for nothing. */
export function fault(path: string): string {
  if (path.startsWith("/")) return "is an absolute path";
  const parts = path.split("/");
  if (new TextEncoder().encode(path).length > LENGTH || parts.length > DEPTH) {
    return `is longer than ${LENGTH} bytes or deeper than ${DEPTH} directories`;
  }
  if (parts.includes("..")) return "leads out of its directory with '..'";
  if (parts.includes("") || parts.includes(".")) return "has an empty part or a '.' in its path";
  for (const part of parts) {
    const reason = reserved(part);
    if (reason) return reason.startsWith("has") ? reason : `has a part ${literal(part)}, which ${reason}`;
  }
  return "";
}

function reserved(part: string): string {
  const forbidden = FORBIDDEN.exec(part);
  if (forbidden) return `has the character ${literal(forbidden[0])} in its name`;
  const plain = fold(part, "NFKC").replace(/[. ]+$/, "");
  if (PACKYARDS.test(plain)) return "is a name that packyard reserves for itself";
  if (SHORT.test(plain)) return "is the short name on Windows of a folder of a version control system or of packyard";
  if (VERSION_CONTROL.test(plain)) return "is a folder of a version control system, which runs commands that it finds there";
  const sign = SIGNS.exec(part);
  if (sign) return `has the character ${literal(sign[0])}, which some file systems cannot hold`;
  if (/[. ]$/.test(part)) return "ends in a dot or a space, which some file systems drop";
  return DEVICE.test(plain) ? "is the name of a device on Windows" : "";
}

/** A key that is equal for names that are one on some file system: case, normalization, invisible signs. */
function fold(name: string, form: "NFC" | "NFKC"): string {
  return name.replace(UNSEEN, "").normalize(form).toLowerCase().toUpperCase().toLowerCase().normalize(form);
}

/** What is wrong with a path beside those that were claimed before, or claim it. */
export function claim(claimed: Claimed, path: string, isFile: boolean): string {
  let here = path;
  for (let mayBeFile = isFile; here !== ""; mayBeFile = false) {
    const key = fold(here, "NFC");
    const known = claimed.get(key);
    if (known && known.path !== here) return `collides with ${literal(known.path)} on file systems that ignore case`;
    if (known && known.isFile !== mayBeFile) return `needs ${literal(here)} to be both a file and a directory`;
    if (known) return "";
    claimed.set(key, { path: here, isFile: mayBeFile });
    here = here.slice(0, Math.max(0, here.lastIndexOf("/")));
  }
  return "";
}
