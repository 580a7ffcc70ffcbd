/** A channel as this page reads it: its head, its list, the records of packages and their bundles. */
import { InputError, IntegrityError, MissingError } from "../errors";
import type { Trust } from "../trust/envelope";
import { isRequired, open, withRevoked } from "../trust/envelope";
import { checkDigest, HAS_CRYPTO } from "./digest";
import { earlier, latest, type Head, type Remembered } from "./head";
import { list, json, object, text } from "./json";
import { listing, type Listing, type Summary } from "./listing";
import { NAME, record, type PackageRecord, type Version } from "./record";
import type { Bytes, Source } from "./source";
import { bisect, get, leaves, nodesOf } from "./tree";

const RECORD = 4 * 1024 * 1024;
const BUNDLE = 64 * 1024 * 1024;
const PARTS = 8; // of a list that a change may have changed; a change of more is shown in part
const PROVENANCE = 4 * 1024 * 1024;

export interface Channel {
  readonly source: Source;
  readonly head: Head;
  listing(): Promise<Listing>;
  package(name: string): Promise<PackageRecord>;
  bundle(name: string, version: Version): Promise<Bundle>;
  /** Who signed the statement of how a version was made; undefined where there is none, and none is required. */
  provenance(name: string, version: Version, trust: Trust): Promise<Provenance | undefined>;
  /** Packages that the last changes of the channel brought, the newest first. */
  newest(changes: number): Promise<Change[]>;
}

/** A bundle's bytes: as published, or the tar in it where the host unpacked it on the way. */
export interface Bundle {
  readonly data: Bytes;
  readonly isCompared: boolean;
  readonly isUnpacked: boolean;
}

export interface Provenance {
  readonly signers: readonly string[];
  readonly others: readonly string[];
}

export interface Change {
  readonly number: number;
  readonly packages: readonly string[];
}

/** Opens a channel. An export lists `names` alone: it holds no more. */
export async function openChannel(source: Source, trust: Trust, remembered?: Remembered, names?: readonly string[]): Promise<Channel> {
  const head = await latest(source, trust, remembered);
  const nodes = nodesOf(source);
  let listed: Promise<Listing> | undefined;
  const named = async (name: string): Promise<PackageRecord> => {
    const digest = NAME.test(name) ? await get(head.packages, name, nodes.node) : undefined;
    if (digest === undefined) throw new InputError(`This channel has no package ${name.slice(0, 80)}.`, "Look for it in the list of packages.");
    return record(await nodes.get(text(digest, "The digest of a record"), RECORD), name);
  };
  return {
    source,
    head,
    package: named,
    listing() {
      const every = (): Promise<Listing> => (head.listing.keys.length ? listing(head.listing, nodes.node) : ofRecords(head, nodes.node, named));
      listed ??= names ? every().then((found) => only(found, names)) : every();
      listed.catch(() => (listed = undefined));
      return listed;
    },
    bundle: (name, version) => bundle(source, name, version),
    provenance: (name, version, trusted) => provenance(source, name, version, withRevoked(trusted, head.revoked)),
    newest: (changes) => newest(source, head, changes, async (of) => listing(of.listing, nodes.node)),
  };
}

/** The list of a channel whose index is of an earlier release: a request for each package. */
async function ofRecords(head: Head, node: (digest: string) => Promise<import("./tree").Node>, read: (name: string) => Promise<PackageRecord>): Promise<Listing> {
  const parts = await leaves(head.packages, node);
  return {
    parts: parts.map(({ last, digest, read: leaf }) => ({
      last,
      digest,
      read: async () => (await Promise.all((await leaf()).keys.map(read))).flatMap(summaryOf),
    })),
  };
}

/** The parts in which these names are, without what else is there. */
function only({ parts }: Listing, names: readonly string[]): Listing {
  const places = new Set(names.map((name) => bisect(parts.map((each) => each.last), name)));
  const held = parts.filter((_, place) => places.has(place));
  return { parts: held.map((part) => ({ ...part, read: async () => (await part.read()).filter((each) => names.includes(each.name)) })) };
}

function summaryOf({ name, latest: version, versions }: PackageRecord): Summary[] {
  const found = versions.find((each) => each.version === version);
  if (!found) return [];
  return [{ name, version, title: found.description.split(": ")[0] ?? "", model: found.model, useCases: found.useCases, needs: [], kind: "" }];
}

async function bundle(source: Source, name: string, version: Version): Promise<Bundle> {
  const what = `${name}@${version.version}`;
  const data = await source.get(key(name, version), BUNDLE);
  const isUnpacked = !(data[0] === 0x1f && data[1] === 0x8b);
  if (!isUnpacked && data.length !== version.size) {
    throw new IntegrityError(`${what} should have ${version.size} bytes, and has ${data.length}.`, "It is damaged; packyard get refuses it too.");
  }
  await checkDigest(data, isUnpacked ? version.tar : version.digest, what);
  return { data, isCompared: HAS_CRYPTO, isUnpacked };
}

function key(name: string, { version }: Version): string {
  return `${version}/${name}.tar.gz`;
}

async function provenance(source: Source, name: string, version: Version, trust: Trust): Promise<Provenance | undefined> {
  const what = `The provenance of ${name}@${version.version}`;
  const data = await source.get(`${key(name, version)}.intoto.json`, PROVENANCE).catch((error: unknown) => {
    if (!(error instanceof MissingError)) throw error;
    if (isRequired(trust)) throw new IntegrityError(`${what} is missing: nothing proves where the bundle is from.`, "Do not use it; ask whoever publishes there.");
    return undefined;
  });
  if (!data) return undefined;
  const opened = await open(data, "application/vnd.in-toto+json", trust, what);
  const subject = list(object(json(opened.payload, what), what).get("subject"), what).map((each) => object(each, what));
  const file = subject.find((each) => each.get("name") === `${name}.tar.gz`);
  if (!file || `sha256:${object(file.get("digest"), what).get("sha256")}` !== version.digest) {
    throw new IntegrityError(`${what} is about another file.`, "Ask whoever publishes there.");
  }
  return { signers: opened.signers, others: opened.others };
}

/** Compares the lists of the last heads. Only parts that differ are read. */
async function newest(source: Source, head: Head, changes: number, read: (head: Head) => Promise<Listing>): Promise<Change[]> {
  const found: Change[] = [];
  let after = head;
  for (let step = 0; step < changes; step += 1) {
    const before = after.number > 1 ? await earlier(source, after, after.number - 1) : undefined;
    const packages = await differing(before ? await read(before) : { parts: [] }, await read(after));
    if (packages.length) found.push({ number: after.number, packages });
    if (!before) break;
    after = before;
  }
  return found;
}

async function differing(before: Listing, after: Listing): Promise<string[]> {
  const [old, now] = await Promise.all([unshared(before, after), unshared(after, before)]);
  const versions = new Map(old.map((each) => [each.name, each.version]));
  return now.filter((each) => !each.kind && versions.get(each.name) !== each.version).map((each) => each.name);
}

/** Reads the parts that another listing does not have. */
async function unshared(from: Listing, other: Listing): Promise<Summary[]> {
  const known = new Set(other.parts.map((part) => part.digest));
  const parts = from.parts.filter((part) => !part.digest || !known.has(part.digest));
  return (await Promise.all(parts.slice(0, PARTS).map((part) => part.read()))).flat();
}
