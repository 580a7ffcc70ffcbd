/** The head of a channel: what it holds now. Old heads stay, so a reader who remembers one can see that this one follows. */
import { IntegrityError, MissingError } from "../errors";
import { NOBODY, open, withRevoked, type Trust } from "../trust/envelope";
import { checkDigest, DIGEST, digestOf, HAS_CRYPTO } from "./digest";
import { document, object, size, text, texts } from "./json";
import type { Bytes, Source } from "./source";
import { nodeOf, type Node } from "./tree";

const TYPE = "application/vnd.packyard.index-head+json";
const LIMIT = 1024 * 1024;
const WALK = 256; // heads that are read to see that none takes a revocation back
const AT_ONCE = 16; // of them
const EMPTY: Node = { level: 0, keys: [], values: [] };

export interface Head {
  readonly number: number;
  /** Of its file; empty without WebCrypto. */
  readonly digest: string;
  readonly channel: string;
  readonly history: ReadonlyMap<number, string>;
  readonly packages: Node;
  readonly listing: Node;
  readonly revoked: readonly string[];
  /** Empty where heads do not expire. */
  readonly expires: string;
  readonly signers: readonly string[];
  readonly others: readonly string[];
}

/** What this browser remembers of a channel, so that nobody can show it an older one. */
export interface Remembered {
  readonly number: number;
  readonly digest: string;
  readonly channel: string;
  readonly revoked: readonly string[];
}

/** Reads the latest head, verified by the keys of `trust`; `remembered` is the last one that was seen here. */
export async function latest(source: Source, trust: Trust, remembered?: Remembered): Promise<Head> {
  const data = await pointer(source);
  const trusted = withRevoked(trust, remembered?.revoked ?? []);
  const head = await parsed(data, trusted, "The index of this channel");
  if (remembered && HAS_CRYPTO) await checkDescent(source, head, remembered);
  await checkRevoked(source, head, trusted, remembered?.number ?? 0);
  return head;
}

async function pointer(source: Source): Promise<Bytes> {
  try {
    return await source.get("index/head.json", LIMIT, true);
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    const place = source.address || "This address";
    throw new MissingError(`${place} has no index: is it a channel?`, `packyard publish --to CHANNEL makes one. ${error.message}`);
  }
}

async function parsed(data: Bytes, trust: Trust, what: string): Promise<Head> {
  const opened = await open(data, TYPE, trust, what);
  const fields = document(opened.payload, "IndexHead", what);
  const number = size(fields.get("number"), `The number of ${what}`);
  const history = new Map([...object(fields.get("history"), what)].map(([key, value]) => [Number(key), text(value, what)]));
  const expected = links(number);
  if (!number || history.size !== expected.length || expected.some((each) => !DIGEST.test(history.get(each) ?? ""))) {
    throw new IntegrityError(`${what} does not link to the heads before it.`);
  }
  const revoked = texts(fields.get("revoked"), what);
  const { signers, others } = await open(data, TYPE, withRevoked(trust, revoked), what);
  const node = (key: string): Node => (fields.has(key) ? nodeOf(object(fields.get(key), what)) : EMPTY);
  return {
    number,
    digest: HAS_CRYPTO ? await digestOf(data) : "",
    channel: text(fields.get("channel") ?? "", what),
    history,
    packages: node("packages"),
    listing: node("listing"),
    revoked,
    expires: text(fields.get("expires") ?? "", what),
    signers,
    others,
  };
}

/** The earlier heads that a head links to: 13 links to 12 and 8. */
export function links(number: number): number[] {
  const found = [];
  for (let left = number - 1; left > 0; left -= lowestBit(left)) found.push(left);
  return found;
}

function lowestBit(number: number): number {
  let bit = 1;
  while (number % (bit * 2) === 0) bit *= 2;
  return bit;
}

const ASK = "Do not use it; ask whoever publishes there what happened. If its index was made anew, forget what this browser remembers, below.";

async function checkDescent(source: Source, head: Head, known: Remembered): Promise<void> {
  if (head.channel !== known.channel) throw new IntegrityError("This is another channel than this browser has seen at this address.", ASK);
  if (head.number < known.number) {
    throw new IntegrityError(`This channel is older than before: it had change ${known.number}, and now ends with ${head.number}.`, ASK);
  }
  checkGrows(known.revoked, head);
  if ((await ancestor(source, head, known.number)) !== known.digest) {
    throw new IntegrityError("This channel has another history than this browser has seen.", ASK);
  }
}

function checkGrows(before: readonly string[], head: Head): void {
  if (before.some((id) => !head.revoked.includes(id))) throw new IntegrityError("This channel revokes no longer what it revoked before.", ASK);
}

/**
 * Goes back to the head that is remembered, or that another trusted key signed: none may have revoked more.
 * The one key that is trusted cannot be revoked; so there is nothing to look for.
 */
async function checkRevoked(source: Source, latest: Head, trust: Trust, known: number): Promise<void> {
  const first = trust.keys.length > 1 ? Math.max(known + 1, latest.number - WALK, 1) : latest.number;
  let later = latest;
  for (let last = latest.number - 1; last >= first; last -= AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, last - first + 1) }, (_, place) => last - place);
    const data = await Promise.all(numbers.map((number) => source.get(`index/heads/${number}.json`, LIMIT)));
    for (const [place, number] of numbers.entries()) {
      later = await follows(data[place] as Bytes, later, number, { ...trust, isOptional: true });
      if (later.signers.length) checkGrows(later.revoked, latest); // others may say what they want
      if (later.signers.some((id) => !latest.signers.includes(id))) return;
    }
  }
}

/** Follows the links back to a head, and returns its digest. */
async function ancestor(source: Source, from: Head, number: number): Promise<string> {
  let [head, digest] = [from, from.digest];
  while (head.number > number) {
    const next = Math.min(...[...head.history.keys()].filter((each) => each >= number));
    digest = head.history.get(next) ?? "";
    if (next === number) break;
    head = await earlier(source, head, next);
  }
  return digest;
}

/** Reads a head that a later one links to. */
export async function earlier(source: Source, head: Head, number: number): Promise<Head> {
  return follows(await source.get(`index/heads/${number}.json`, LIMIT), head, number, NOBODY);
}

/** Reads the bytes of a head, compared with the link of a later one. */
async function follows(data: Bytes, later: Head, number: number, trust: Trust): Promise<Head> {
  const what = `Change ${number} of the index`;
  await checkDigest(data, later.history.get(number) ?? "", what);
  return parsed(data, trust, what);
}
