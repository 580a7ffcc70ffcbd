/** SHA-256 digests as the channel spells them: `sha256:` and 64 hex digits. */
import { IntegrityError } from "../errors";
import type { Bytes } from "./source";

export const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Whether this page may compute digests and check signatures: browsers allow it on https, localhost and in files. */
export const HAS_CRYPTO = globalThis.crypto?.subtle !== undefined;

export async function digestOf(data: Bytes): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return `sha256:${hex(hash)}`;
}

export function hex(data: Uint8Array): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Throws unless the bytes have the digest. Without WebCrypto nothing is compared, and the page says so. */
export async function checkDigest(data: Bytes, digest: string, what: string): Promise<void> {
  if (!HAS_CRYPTO) return;
  const found = await digestOf(data);
  if (found !== digest) {
    throw new IntegrityError(`${what} was altered or damaged: expected ${digest}, found ${found}.`, "Tell whoever publishes the channel: packyard fsck CHANNEL");
  }
}
