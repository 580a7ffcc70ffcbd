// A bundle's files: gunzipped, untarred, and compared with packyard.json, which names each of them with its digest.
// Bundles are hostile: sizes and names are checked as packyard's own reader checks them.

import { unpackTar } from "modern-tar";
import { digestOf, HAS_CRYPTO } from "../channel/digest";
import type { Bytes } from "../channel/source";
import { IntegrityError } from "../errors";
import { literal } from "../judge/words";
import { checkHeaders } from "./headers";
import { MANIFEST, parseManifest } from "./manifest";
import { claim, fault, type Claimed } from "./names";

/** Paths below the bundle's top directory, each with its bytes. */
export type Files = ReadonlyMap<string, Bytes>;

export interface Limits {
  readonly entries: number;
  /** Bytes of the tar; up to `smallSize` any ratio of it to the compressed bytes is fine. */
  readonly totalSize: number;
  readonly smallSize: number;
  readonly ratio: number;
}

const LIMITS: Limits = { entries: 20_000, totalSize: 256 << 20, smallSize: 48 << 20, ratio: 100 };
const HINT = "do not use this archive; fetch it again";

/**
 * The files of a `.tar.gz`, or of the tar that a host made of it, packyard.json among them; throws `IntegrityError` for what is damaged or
 * hostile.
 */
export async function readBundle(data: Bytes, limits: Limits = LIMITS): Promise<Files> {
  const { top, files } = await readArchive(data, limits);
  const described = files.get(MANIFEST);
  if (!described) throw new IntegrityError(`has no ${MANIFEST}`, "is this a bundle?");
  const manifest = parseManifest(described);
  if (manifest.name !== top) {
    throw new IntegrityError(`the top directory is ${literal(top)}, the name in ${MANIFEST} ${literal(manifest.name)}`, HINT);
  }
  await compare(manifest.files, files);
  return files;
}

/** The top directory of an archive and the files below it, whatever they are; names and sizes are checked. */
export async function readArchive(data: Bytes, limits: Limits = LIMITS): Promise<{ top: string; files: Files }> {
  const most = Math.min(limits.totalSize, Math.max(limits.smallSize, limits.ratio * data.length));
  const isPacked = data[0] === 0x1f && data[1] === 0x8b;
  const tar = isPacked ? await expand(data, most) : data;
  if (tar.length > most) throw new IntegrityError(`the archive has more than ${most} bytes`, HINT);
  checkHeaders(tar);
  return untar(tar, limits);
}

/** Gunzip no more than so many bytes, so that a bomb does no harm. */
async function expand(data: Bytes, most: number): Promise<Bytes> {
  const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      pieces.push(piece.value);
      size += piece.value.length;
      if (size > most) break;
    }
  } catch (error) {
    throw new IntegrityError(`the gzip data is damaged: ${error instanceof Error ? error.message : error}`, HINT);
  }
  if (size > most) {
    await reader.cancel();
    throw new IntegrityError(`the archive expands to more than ${most} bytes`, HINT);
  }
  const whole = new Uint8Array(size);
  let position = 0;
  for (const piece of pieces) {
    whole.set(piece, position);
    position += piece.length;
  }
  return whole;
}

async function untar(tar: Bytes, limits: Limits): Promise<{ top: string; files: Map<string, Bytes> }> {
  const files = new Map<string, Bytes>();
  const names = new Set<string>();
  const claimed: Claimed = new Map();
  let top: string | undefined;
  for (const { header, data } of await entriesOf(tar)) {
    const name = header.type === "directory" ? header.name.replace(/\/$/, "") : header.name;
    checkName(header.name, name, header.type ?? "file");
    top ??= name.split("/")[0] ?? name;
    if (!`${name}/`.startsWith(`${top}/`) || (header.type === "file" && !name.includes("/"))) {
      throw new IntegrityError(`${literal(header.name)} is outside of the top directory ${literal(top)}`, HINT);
    }
    if (names.has(name)) throw new IntegrityError(`${literal(name)} appears twice`, HINT);
    names.add(name);
    const reason = claim(claimed, name, header.type === "file");
    if (reason) throw new IntegrityError(`${literal(name)} ${reason}`, HINT);
    if (claimed.size > limits.entries) throw new IntegrityError(`the archive has more than ${limits.entries} entries`, HINT);
    if (header.type === "file") files.set(name.slice(top.length + 1), data ?? new Uint8Array());
  }
  if (top === undefined) throw new IntegrityError("the archive is empty", HINT);
  return { top, files };
}

async function entriesOf(tar: Bytes): ReturnType<typeof unpackTar> {
  try {
    return await unpackTar(tar, { strict: true });
  } catch (error) {
    throw new IntegrityError(`the archive is damaged: ${error instanceof Error ? error.message : error}`, HINT);
  }
}

function checkName(written: string, name: string, type: string): void {
  if (type !== "file" && type !== "directory") {
    throw new IntegrityError(`${literal(written)} is a ${type}; only files and directories are accepted`, HINT);
  }
  const reason = fault(name);
  if (reason) throw new IntegrityError(`${literal(written)} ${reason}`, HINT);
}

/** Compare the files that were found with those that packyard.json names; without WebCrypto by their names alone. */
async function compare(listed: ReadonlyMap<string, string>, files: Files): Promise<void> {
  for (const path of listed.keys()) if (!files.has(path)) throw new IntegrityError(`${path}: is missing`, HINT);
  for (const [path, data] of files) {
    if (path === MANIFEST) continue;
    const expected = listed.get(path);
    if (expected === undefined) throw new IntegrityError(`${path}: is extra: ${MANIFEST} does not name it`, HINT);
    const found = HAS_CRYPTO ? await digestOf(data) : expected;
    if (found !== expected) throw new IntegrityError(`${path}: expected ${expected}, found ${found}`, HINT);
  }
}
