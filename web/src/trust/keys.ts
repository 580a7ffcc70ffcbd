/** Ed25519 public keys, in the PEM files of openssl; a key's id is the SHA-256 of its DER form. */
import { digestOf } from "../channel/digest";
import type { Bytes } from "../channel/source";
import { InputError } from "../errors";

export interface PublicKey {
  readonly id: string;
  readonly pem: string;
  readonly key: CryptoKey;
}

const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END \1-----/g;
const PREFIX = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]; // RFC 8410, up to its 32 bytes
const MOST = 64 * 1024;

/** Reads the PEM of one public key, and refuses what is anything else. */
export async function publicKey(given: string): Promise<PublicKey> {
  const blocks = given.length > MOST ? [] : [...given.matchAll(PEM)];
  if (blocks.some((block) => block[1]?.includes("PRIVATE"))) {
    throw new InputError("This is a private key.", "Keep it to yourself; paste the text of the file that ends in .pub.pem.");
  }
  const body = blocks[0]?.[2];
  if (blocks.length !== 1 || body === undefined || blocks[0]?.[1] !== "PUBLIC KEY") {
    throw new InputError("This is not a public key.", "Paste the text of a .pub.pem file, from BEGIN PUBLIC KEY to END PUBLIC KEY.");
  }
  const der = decoded(body.replace(/\s/g, ""));
  if (der?.length !== 44 || PREFIX.some((byte, at) => der[at] !== byte)) {
    throw new InputError("This public key is not an Ed25519 key.", "packyard keys new NAME makes a pair.");
  }
  return { id: await digestOf(der), pem: given.trim(), key: await imported(der) };
}

async function imported(der: Bytes): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]);
  } catch {
    throw new InputError("This browser cannot check Ed25519 signatures.", "Update it, or check with: packyard verify");
  }
}

export function decoded(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export async function hasSigned(key: PublicKey, data: Bytes, signature: Bytes): Promise<boolean> {
  return crypto.subtle.verify({ name: "Ed25519" }, key.key, signature, data);
}
