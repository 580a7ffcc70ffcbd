/**
 * The root of a channel: which keys sign what, and how many of them have to; files of TUF, as python-tuf writes them.
 * Who pinned one root follows it to the newest, each signed by a threshold of the one before and of its own.
 */
import { DIGEST } from "../channel/digest";
import { list, object, size, text, texts, json, type Fields } from "../channel/json";
import type { Bytes, Source } from "../channel/source";
import { InputError, IntegrityError, MissingError } from "../errors";
import { open, type Trust } from "./envelope";
import { ed25519, publicKey, unhex, type PublicKey } from "./keys";

const LIMIT = 1024 * 1024;
const MOST_ROOTS = 1024;
const MOST_REVOCATIONS = 100;
const DAY = 86_400_000; // milliseconds
const REVOKED = "application/vnd.packyard.revoked+json";
const ASK = "Do not use it; ask whoever publishes there what happened.";

export interface Role {
  readonly keyids: readonly string[];
  readonly threshold: number;
  /** Keys whose old signatures of provenance count. */
  readonly retired: readonly string[];
}

export interface Root {
  readonly text: string;
  readonly version: number;
  readonly expires: number;
  readonly channel: string;
  readonly keys: ReadonlyMap<string, PublicKey>;
  readonly roles: ReadonlyMap<string, Role>;
  readonly revocation: Role | undefined;
  readonly packages: readonly (Role & { readonly paths: readonly string[] })[];
  readonly headsExpireDays: number | undefined;
}

/** A root that is followed to its newest version, and the keys that it revoked. */
export interface Followed {
  readonly root: Root;
  readonly revoked: readonly string[];
}

/** Whether a text is a root, and not a key. */
export function isRoot(given: string): boolean {
  return given.trimStart().startsWith("{");
}

/** Reads a root that was got by another way: it is signed by a threshold of its own keys. */
export async function pinned(given: string): Promise<Root> {
  const root = await parse(given, "This root");
  await check(root, root, "This root");
  return root;
}

/** Follows a pinned root to the newest of a channel, and reads what it revoked. */
export async function follow(source: Source, from: Root, now: number): Promise<Followed> {
  let root = from;
  for (let step = 0; step < MOST_ROOTS; step += 1) {
    const what = `Root ${root.version + 1} of this channel`;
    const data = await orNothing(source, `index/root/${root.version + 1}.root.json`);
    if (!data) break;
    const next = await parse(new TextDecoder().decode(data), what);
    if (next.version !== root.version + 1) throw new IntegrityError(`${what} says that it is ${next.version}.`, ASK);
    if (next.channel !== root.channel) throw new IntegrityError(`${what} is another channel's.`, ASK);
    await check(next, root, what);
    await check(next, next, what);
    root = next;
  }
  if (root.expires <= now) throw new IntegrityError(`The root of this channel expired on ${new Date(root.expires).toISOString()}.`, "Ask its publisher to renew it.");
  return { root, revoked: await revocations(source, root) };
}

/** Whom a root lets sign heads. */
export function headTrust({ root, revoked }: Followed): Trust {
  return trustOf(root, role(root, "timestamp"), revoked);
}

/** Whom a root lets sign a package's provenance; none has to where no role is for it, as the head vouches for it. */
export function packageTrust({ root, revoked }: Followed, name: string): Trust {
  const own = root.packages.find((each) => each.paths.some((pattern) => fits(pattern, name)));
  const found = own ?? role(root, "timestamp");
  return { ...trustOf(root, { ...found, keyids: [...found.keyids, ...found.retired] }, revoked), isOptional: !own };
}

/** Compares what a head says of its channel, its time and its revocations with the root. */
export function checkHead({ root, revoked }: Followed, head: { channel: string; expires: string; revoked: readonly string[] }, now: number): void {
  if (head.channel !== root.channel) throw new IntegrityError("The head is another channel's than the root.", ASK);
  const stolen = head.revoked.find((id) => root.keys.has(id) && !revoked.includes(id));
  if (stolen) throw new IntegrityError(`The head revokes ${stolen}, which only those whom the root names may do.`, ASK);
  if (root.headsExpireDays === undefined) return;
  const expires = moment(head.expires);
  if (Number.isNaN(expires)) throw new IntegrityError("The head does not say when it expires, as the root asks.", ASK);
  if (expires <= now) throw new IntegrityError(`The head expired on ${head.expires}.`, "Its publisher has to sign a new one; is the clock of this computer right?");
  if (expires > now + (root.headsExpireDays + 1) * DAY) throw new IntegrityError(`The head expires on ${head.expires}, later than the root lets it.`, "Is the clock of this computer right?");
}

function trustOf(root: Root, { keyids, threshold }: Pick<Role, "keyids" | "threshold">, revoked: readonly string[]): Trust {
  return { keys: keyids.flatMap((id) => root.keys.get(id) ?? []), revoked, threshold };
}

async function parse(given: string, what: string): Promise<Root> {
  const fields = object(json(new TextEncoder().encode(given), what), what);
  const signed = object(fields.get("signed"), what);
  if (signed.get("_type") !== "root") throw new InputError(`${what} is no root of keys.`, "Paste the text of a root.json file, or of a public key.");
  const extra = object(signed.get("x-packyard"), `${what}: x-packyard`);
  const days = extra.get("headsExpireDays");
  const expires = moment(text(signed.get("expires"), what));
  if (Number.isNaN(expires)) throw new IntegrityError(`${what} does not say when it expires.`);
  const keys = await keysOf(object(signed.get("keys"), what), what);
  const ofRole = (value: unknown): Role => roleOf(value, keys, what);
  return {
    text: given,
    version: size(signed.get("version"), what),
    expires,
    channel: text(extra.get("channel"), what),
    keys,
    roles: new Map([...object(signed.get("roles"), what)].map(([name, value]) => [name, ofRole(value)])),
    revocation: extra.has("revocation") ? ofRole(extra.get("revocation")) : undefined,
    packages: list(extra.get("packages") ?? [], what).map((value) => ({ ...ofRole(value), paths: texts(object(value, what).get("paths"), what) })),
    headsExpireDays: days === undefined || days === null ? undefined : size(days, what),
  };
}

async function keysOf(fields: Fields, what: string): Promise<Map<string, PublicKey>> {
  const found = new Map<string, PublicKey>();
  for (const [id, value] of fields) {
    const key = object(value, what);
    const material = text(object(key.get("keyval"), what).get("public"), what);
    const made = key.get("keytype") === "ed25519" ? await ed25519(unhex(material)) : await publicKey(material);
    if (made.id !== id || !DIGEST.test(id)) throw new IntegrityError(`${what} calls a key ${id.slice(0, 80)}, whose id is ${made.id}.`, ASK);
    found.set(id, made);
  }
  return found;
}

function roleOf(value: unknown, keys: ReadonlyMap<string, PublicKey>, what: string): Role {
  const fields = object(value, what);
  const keyids = texts(fields.get("keyids"), what);
  const retired = texts(fields.get("x-retired"), what);
  const threshold = size(fields.get("threshold"), what);
  if (threshold < 1 || new Set(keyids).size !== keyids.length || threshold > keyids.length) {
    throw new IntegrityError(`${what} has a role that nobody can fulfil: ${threshold} of ${keyids.length} keys.`, ASK);
  }
  const unknown = [...keyids, ...retired].find((id) => !keys.has(id));
  if (unknown !== undefined) throw new IntegrityError(`${what} has a role of ${unknown.slice(0, 80)}, and no such key.`, ASK);
  return { keyids, threshold, retired };
}

function role(root: Root, name: string): Role {
  const found = root.roles.get(name);
  if (!found) throw new IntegrityError(`Root ${root.version} has no role ${name}.`, ASK);
  return found;
}

/** Throws unless a threshold of the keys which `by` names for roots signed this one; each key counts once. */
async function check(root: Root, by: Root, what: string): Promise<void> {
  const fields = object(json(new TextEncoder().encode(root.text), what), what);
  const signed = canonical(JSON.parse(root.text).signed) as Bytes;
  const { keyids, threshold } = role(by, "root");
  const valid = new Set<string>();
  for (const value of list(fields.get("signatures"), what)) {
    const signature = object(value, what);
    const id = text(signature.get("keyid"), what);
    const key = keyids.includes(id) ? by.keys.get(id) : undefined;
    if (key && (await key.hasSigned(signed, unhex(text(signature.get("sig"), what))))) valid.add(id);
  }
  if (valid.size < threshold) throw new IntegrityError(`${what} is signed by ${valid.size} of the ${threshold} keys that it needs.`, ASK);
}

/** TUF's canonical JSON: sorted keys, no spaces, and only quotes and backslashes escaped. */
function canonical(value: unknown): Uint8Array {
  return new TextEncoder().encode(spelled(value));
}

function spelled(value: unknown): string {
  if (typeof value === "string") return `"${value.replace(/[\\"]/g, (sign) => `\\${sign}`)}"`;
  if (Array.isArray(value)) return `[${value.map(spelled).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${spelled(key)}:${spelled(item)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new IntegrityError("A root holds a number that is no whole one.");
  return String(value);
}

async function revocations(source: Source, root: Root): Promise<string[]> {
  if (!root.revocation) return [];
  const trust = trustOf(root, root.revocation, []);
  const found: string[] = [];
  for (let version = 1; ; version += 1) {
    const data = await orNothing(source, `index/revoked/${version}.json`);
    if (!data) break;
    if (version > MOST_REVOCATIONS) throw new IntegrityError(`This channel has more than ${MOST_REVOCATIONS} revocations.`, ASK);
    found.push(...(await revokedBy(data, version, root, trust)));
  }
  return [...new Set(found)];
}

/** What is not signed by those who may revoke counts as nothing. */
async function revokedBy(data: Bytes, version: number, root: Root, trust: Trust): Promise<string[]> {
  try {
    const what = `Revocation ${version}`;
    const fields = object(json((await open(data, REVOKED, trust, what)).payload, what), what);
    const isRight = fields.get("channel") === root.channel && fields.get("version") === version;
    return isRight ? texts(fields.get("revoked"), what) : [];
  } catch (error) {
    if (error instanceof IntegrityError) return [];
    throw error;
  }
}

async function orNothing(source: Source, key: string): Promise<Bytes | undefined> {
  try {
    return await source.get(key, LIMIT, true);
  } catch (error) {
    if (error instanceof MissingError) return undefined;
    throw error;
  }
}

/** `2026-12-26T00:00:00Z` in milliseconds. */
function moment(spelled: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(spelled) ? Date.parse(spelled) : NaN;
}

/** Whether a name fits a pattern with `*` and `?`. */
function fits(pattern: string, name: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  if (!rest.length) return same(pattern, name);
  const end = rest.pop() ?? "";
  if (name.length < start.length + end.length || !same(start, name.slice(0, start.length)) || !same(end, name.slice(name.length - end.length))) return false;
  let left = name.slice(start.length, name.length - end.length);
  for (const part of rest) {
    const place = [...Array(left.length - part.length + 1 > 0 ? left.length - part.length + 1 : 0).keys()].find((at) => same(part, left.slice(at, at + part.length)));
    if (place === undefined) return false;
    left = left.slice(place + part.length);
  }
  return true;
}

function same(pattern: string, name: string): boolean {
  return pattern.length === name.length && [...pattern].every((letter, at) => letter === "?" || letter === name[at]);
}
