/** DSSE envelopes (https://github.com/secure-systems-lab/dsse): bytes, and who signed them. */
import { DIGEST } from "../channel/digest";
import { json, list, object, text } from "../channel/json";
import { joined, type Bytes } from "../channel/source";
import { IntegrityError } from "../errors";
import { decoded, type PublicKey } from "./keys";

const MOST = 16; // signatures

/** Whom the reader trusts; `revoked` are ids of keys whose signatures count no more. */
export interface Trust {
  readonly keys: readonly PublicKey[];
  readonly revoked: readonly string[];
  /** How many of the keys have to sign; one, if it is not said. */
  readonly threshold?: number;
  /** Whether no signature is required, as a signature elsewhere vouches for the same. */
  readonly isOptional?: boolean;
}

export const NOBODY: Trust = { keys: [], revoked: [] };

/** Whether fewer signatures than the threshold are refused. */
export function isRequired({ keys, isOptional }: Trust): boolean {
  return keys.length > 0 && !isOptional;
}

/** The same with more keys revoked. */
export function withRevoked(trust: Trust, revoked: readonly string[]): Trust {
  return { ...trust, revoked: [...new Set([...trust.revoked, ...revoked])] };
}

export interface Opened {
  readonly payload: Bytes;
  /** Ids of trusted keys whose signatures were checked. */
  readonly signers: readonly string[];
  /** Ids of keys that are said to have signed; nothing was checked. */
  readonly others: readonly string[];
}

/** Opens an envelope. Throws on another type, on a wrong signature of a trusted key, and where no trusted key signed. */
export async function open(data: Uint8Array, type: string, trust: Trust, what: string): Promise<Opened> {
  const fields = object(json(data, what), what);
  const payload = base64(fields.get("payload"), what);
  const found = text(fields.get("payloadType"), what);
  if (found !== type) throw new IntegrityError(`${what} should hold ${type}, and holds ${found.slice(0, 80)}.`);
  const signatures = list(fields.get("signatures"), what).map((value) => signature(value, what));
  if (signatures.length > MOST || new Set(signatures.map((each) => each.id)).size !== signatures.length) {
    throw new IntegrityError(`${what} has too many signatures, or two of one key.`);
  }
  const valid = await checked(signatures, signedBytes(payload, type), trust, what);
  const isMet = valid.length >= (trust.threshold ?? 1);
  const othersThan = (some: readonly string[]): string[] => signatures.map((each) => each.id).filter((id) => !some.includes(id));
  if (!isMet && isRequired(trust)) throw unsigned(othersThan(valid), valid, trust, what);
  const signers = isMet ? valid : []; // fewer count as none
  return { payload, signers, others: othersThan(signers) };
}

interface Signature {
  readonly id: string;
  readonly value: Bytes;
}

function signature(value: unknown, what: string): Signature {
  const fields = object(value, what);
  const id = text(fields.get("keyid"), what);
  if (!DIGEST.test(id)) throw new IntegrityError(`${what} has a signature whose key id is no digest.`);
  return { id, value: base64(fields.get("sig"), what) };
}

async function checked(signatures: readonly Signature[], signed: Bytes, trust: Trust, what: string): Promise<string[]> {
  const signers: string[] = [];
  for (const { id, value } of signatures) {
    const key = trust.revoked.includes(id) ? undefined : trust.keys.find((each) => each.id === id);
    if (key && !(await key.hasSigned(signed, value))) {
      throw new IntegrityError(`The signature of ${what} is wrong: it was altered.`, "Do not use it; ask whoever publishes there.");
    }
    if (key) signers.push(id);
  }
  return signers;
}

/** What a signature signs: DSSE's pre-authentication encoding. */
export function signedBytes(payload: Bytes, type: string): Bytes {
  const encoder = new TextEncoder();
  const kind = encoder.encode(type);
  const head = encoder.encode(`DSSEv1 ${kind.length} ${type} ${payload.length} `);
  return joined([head, payload], head.length + payload.length);
}

function unsigned(others: readonly string[], signers: readonly string[], trust: Trust, what: string): IntegrityError {
  const revoked = others.find((id) => trust.revoked.includes(id));
  if (revoked) return new IntegrityError(`${what} is signed by ${revoked}, which is revoked.`, "Ask the publisher for the new key.");
  if (signers.length) return new IntegrityError(`${what} is signed by ${signers.length} of the ${trust.threshold} keys that have to sign it.`, "Ask whoever publishes there.");
  if (others.length) return new IntegrityError(`${what} is signed by ${others[0]}, which is not the key that you gave.`);
  return new IntegrityError(`${what} is not signed.`, "The key that you gave must have signed it.");
}

function base64(value: unknown, what: string): Bytes {
  const data = decoded(text(value, what));
  if (!data) throw new IntegrityError(`${what} has something that is not base64.`);
  return data;
}
