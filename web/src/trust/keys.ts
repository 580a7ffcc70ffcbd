/** Public keys of Ed25519, ECDSA (P-256) and RSA, in the PEM files of openssl; an id is the SHA-256 of the DER form. */
import { digestOf } from "../channel/digest";
import type { Bytes } from "../channel/source";
import { InputError } from "../errors";

export interface PublicKey {
  readonly id: string;
  readonly pem: string;
  /** Whether these bytes are signed by this key. */
  hasSigned(data: Bytes, signature: Bytes): Promise<boolean>;
}

const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END \1-----/g;
const MOST = 64 * 1024;
const ED25519 = "302a300506032b6570032100"; // RFC 8410: a SubjectPublicKeyInfo up to its 32 bytes
const P256 = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
const RSA = "300d06092a864886f70d0101010500";
const LEAST_RSA = 2048; // bits

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
  if (!der) throw new InputError("This public key is damaged.", "Paste the whole text of the .pub.pem file.");
  return { id: await digestOf(der), pem: given.trim(), hasSigned: await verifier(der) };
}

/** Returns the key of these 32 bytes of Ed25519. */
export async function ed25519(raw: Bytes): Promise<PublicKey> {
  const body = btoa(String.fromCharCode(...unhex(ED25519), ...raw));
  return publicKey(`-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----`);
}

type Verifier = PublicKey["hasSigned"];

async function verifier(der: Bytes): Promise<Verifier> {
  const start = Array.from(der.subarray(0, 40), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (start.startsWith(ED25519) && der.length === 44) return ofEd25519(der);
  if (start.startsWith(P256) && der.length === 91) return ofP256(der);
  if (start.slice(0, 60).includes(RSA)) return ofRsa(der);
  throw new InputError("This public key is neither of Ed25519, nor of ECDSA P-256, nor of RSA.", "packyard keys new NAME makes a pair.");
}

async function ofEd25519(der: Bytes): Promise<Verifier> {
  const key = await imported(der, { name: "Ed25519" }, "Ed25519");
  return (data, signature) => crypto.subtle.verify({ name: "Ed25519" }, key, signature, data);
}

async function ofP256(der: Bytes): Promise<Verifier> {
  const key = await imported(der, { name: "ECDSA", namedCurve: "P-256" }, "ECDSA");
  return async (data, signature) => {
    const raw = rawSignature(signature);
    return raw !== undefined && crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, raw, data);
  };
}

/** Accepts PKCS #1 v1.5, and PSS with any length of its salt. */
async function ofRsa(der: Bytes): Promise<Verifier> {
  const plain = await imported(der, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, "RSA");
  const pss = await imported(der, { name: "RSA-PSS", hash: "SHA-256" }, "RSA");
  const bits = (plain.algorithm as RsaHashedKeyAlgorithm).modulusLength;
  if (bits < LEAST_RSA) throw new InputError(`This RSA key has ${bits} bits; at least ${LEAST_RSA} are needed.`);
  const longest = Math.ceil((bits - 1) / 8) - 34;
  const salts = [...new Set([32, longest, ...Array(longest).keys()])].filter((size) => size <= longest);
  return async (data, signature) => {
    if (await crypto.subtle.verify("RSASSA-PKCS1-v1_5", plain, signature, data)) return true;
    for (const saltLength of salts) {
      if (await crypto.subtle.verify({ name: "RSA-PSS", saltLength }, pss, signature, data)) return true;
    }
    return false;
  };
}

async function imported(der: Bytes, algorithm: RsaHashedImportParams | EcKeyImportParams | Algorithm, name: string): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("spki", der, algorithm, false, ["verify"]);
  } catch {
    throw new InputError(`This browser cannot check ${name} signatures with this key.`, "Update it, or check with: packyard verify");
  }
}

/** An ECDSA signature in DER as the two numbers of 32 bytes that WebCrypto takes. */
function rawSignature(der: Bytes): Bytes | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(64);
  let at = 2;
  for (const end of [32, 64]) {
    const size = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + size);
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (der[at] !== 0x02 || number.length !== size || !size || digits.length > 32) return undefined;
    raw.set(digits, end - digits.length);
    at += 2 + size;
  }
  return at === der.length ? raw : undefined;
}

export function decoded(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export function unhex(text: string): Bytes {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
