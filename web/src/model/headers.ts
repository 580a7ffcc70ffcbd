// What packyard's reader of tars refuses and a library lets pass: headers to which different readers give different
// meanings. The names and the content are read by the library.

import { IntegrityError } from "../errors";

const BLOCK = 512;
const EXTENSION = 64 * 1024; // bytes of an extended header
const EXTENSIONS = 2 * 1024 * 1024; // of all of them
const KINDS = new Set(["\0", "0", "1", "2", "3", "4", "5", "6", "x", "g", "L"]); // links and devices are named by their kind later
const REFUSED = /^(?:size|linkpath|hdrcharset|GNU\.sparse\..*)$/;
const HINT = "do not use this archive; fetch it again";

/** Throws `IntegrityError` for a tar that readers may take for different files. */
export function checkHeaders(tar: Uint8Array): void {
  let extended = 0;
  let isExtended = false;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK);
    const kind = String.fromCharCode(header[156] ?? 0);
    const size = octal(header.subarray(124, 136));
    checkFormat(header, kind, at);
    isExtended = "xgL".includes(kind);
    if (isExtended) {
      extended += size + BLOCK / 4;
      if (size > EXTENSION || extended > EXTENSIONS) throw new IntegrityError("an extended header is too large", HINT);
      if (kind !== "L") checkRecords(decoded(tar.subarray(at + BLOCK, at + BLOCK + size)), kind === "g");
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  if (isExtended) throw new IntegrityError("the archive ends after an extended header", HINT);
}

function checkFormat(header: Uint8Array, kind: string, at: number): void {
  const magic = ascii(header.subarray(257, 265));
  const isPosix = magic === "ustar\x0000";
  if (!isPosix && magic !== "ustar  \0") throw new IntegrityError(`the header at byte ${at} has an unknown format`, HINT);
  if (isPosix && header.subarray(500).some((byte) => byte !== 0)) throw new IntegrityError(`the header at byte ${at} has data after its last field`, HINT);
  if (!KINDS.has(kind)) throw new IntegrityError(`the header at byte ${at} is of the unknown type '${kind}'`, HINT);
  const name = decoded(upToZero(header.subarray(0, 100)));
  decoded(upToZero(header.subarray(345, 500)));
  if ((kind === "0" || kind === "\0") && name.endsWith("/")) throw new IntegrityError(`the file '${name}' is named as a directory`, HINT);
}

/** The keys of `<length> <key>=<value>` records. */
function checkRecords(text: string, isGlobal: boolean): void {
  for (const [, key = ""] of text.matchAll(/^[0-9]+ ([^=\n]+)=/gm)) {
    if (REFUSED.test(key) || (isGlobal && key === "path")) throw new IntegrityError(`the extended header '${key}' is not accepted`, HINT);
  }
}

function upToZero(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

function octal(field: Uint8Array): number {
  const digits = /^ *([0-7]*)[ \0]*$/.exec(ascii(field))?.[1];
  if (digits === undefined) throw new IntegrityError("a size in a header is not an octal number", HINT);
  return Number.parseInt(digits || "0", 8);
}

function ascii(field: Uint8Array): string {
  return String.fromCharCode(...field);
}

function decoded(field: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(field);
  } catch {
    throw new IntegrityError("a name in the archive is not UTF-8", HINT);
  }
}
