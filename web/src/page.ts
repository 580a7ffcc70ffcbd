/** What the page knows of itself: its channel, the keys that its host names, and what this browser remembers. */
import { openChannel, type Channel } from "./channel/channel";
import { HAS_CRYPTO } from "./channel/digest";
import type { Remembered } from "./channel/head";
import { object, text, texts } from "./channel/json";
import { embedded, hosted, type Source } from "./channel/source";
import { NOBODY, type Trust } from "./trust/envelope";
import { publicKey, type PublicKey } from "./trust/keys";
import { checkHead, follow, headTrust, isRoot, packageTrust, pinned, type Followed } from "./trust/root";

export interface Settings {
  readonly title: string;
  readonly source: Source;
  /** Where the channel's files are read from, as an address of the web; empty for an export. */
  readonly place: string;
  /** PEM texts that the host of this page put into it. */
  readonly hostKeys: readonly string[];
  readonly isExport: boolean;
  /** The packages that an export holds. */
  readonly names?: readonly string[];
}

/** Reads the settings that `packyard web` wrote into the page. */
export function settings(): Settings {
  const written = object(JSON.parse(document.getElementById("packyard")?.textContent || "{}"), "The page's settings");
  const files = written.get("files");
  const address = text(written.get("from") ?? "", "from");
  const place = new URL(text(written.get("channel") ?? ".", "channel"), document.baseURI).href.replace(/[?#].*$/, "");
  const source = files === undefined ? hosted(place) : embedded(address, new Map(Object.entries(files as Record<string, string>)));
  return {
    title: text(written.get("title") ?? "", "title"),
    source: address ? { ...source, address } : source,
    place: files === undefined ? place.replace(/\/+$/, "") : "",
    hostKeys: texts(written.get("keys"), "keys"),
    isExport: files !== undefined,
    ...(files !== undefined && { names: texts(written.get("names"), "names") }),
  };
}

/** What is known of who made what is shown. */
export interface Proof {
  readonly trust: Trust;
  /** Who named the key: the reader, by pasting it, or this page. */
  readonly from: "reader" | "host" | "nobody";
  readonly keys: readonly PublicKey[];
  /** The root that says who signs what, if the key was a root. */
  readonly followed?: Followed;
}

/** Whom the proof lets sign a package's provenance; the head that lists it, signed by a trusted key, vouches for it, too. */
export function provenanceTrust({ trust, followed }: Proof, name: string): Trust {
  return followed ? packageTrust(followed, name) : { ...trust, isOptional: true };
}

export interface Page {
  readonly settings: Settings;
  readonly channel: Channel;
  readonly proof: Proof;
}

export async function openPage(given: Settings): Promise<Page> {
  const proof = await proofOf(given);
  const remembered = given.isExport ? undefined : memory(given.source.address).read();
  const channel = await openChannel(given.source, proof.trust, remembered, given.names);
  if (proof.followed) checkHead(proof.followed, channel.head, Date.now());
  if (!given.isExport && HAS_CRYPTO) memory(given.source.address).write(channel.head);
  return { settings: given, channel, proof };
}

async function proofOf({ source, hostKeys }: Settings): Promise<Proof> {
  if (!HAS_CRYPTO) return { trust: NOBODY, from: "nobody", keys: [] };
  const pasted = stored(keyPlace(source.address));
  const pems = pasted === null ? hostKeys : [pasted];
  const from = pasted !== null ? "reader" : pems.length ? "host" : "nobody";
  const root = pems.find(isRoot);
  if (root !== undefined) return ofRoot(source, root, from);
  const keys = await Promise.all(pems.map(publicKey));
  return { trust: { keys, revoked: [] }, from, keys };
}

async function ofRoot(source: Source, text: string, from: Proof["from"]): Promise<Proof> {
  const followed = await follow(source, await pinned(text), Date.now());
  if (from === "reader" && followed.root.text !== text) giveKey(source.address, followed.root.text);
  const trust = headTrust(followed);
  return { trust, from, keys: trust.keys, followed };
}

/** Reads a public key, or a root of keys, that the reader gives; returns its text. */
export async function readKey(given: string): Promise<string> {
  return isRoot(given) ? (await pinned(given)).text : (await publicKey(given)).pem;
}

const keyPlace = (address: string): string => `packyard key ${address}`;

export function giveKey(address: string, pem: string): void {
  localStorage.setItem(keyPlace(address), pem);
}

export function forgetKey(address: string): void {
  localStorage.removeItem(keyPlace(address));
}

/** The last head of a channel that this browser saw. */
export function memory(address: string): { read(): Remembered | undefined; write(head: Remembered): void; forget(): void } {
  const place = `packyard head ${address}`;
  return {
    read() {
      const known = stored(place);
      return known === null ? undefined : (JSON.parse(known) as Remembered);
    },
    write({ number, digest, channel, revoked }) {
      if (number > (this.read()?.number ?? 0)) store(place, JSON.stringify({ number, digest, channel, revoked }));
    },
    forget: () => localStorage.removeItem(place),
  };
}

/** Pages in private windows and frames may have no storage. */
function stored(place: string): string | null {
  try {
    return localStorage.getItem(place);
  } catch {
    return null;
  }
}

function store(place: string, value: string): void {
  try {
    localStorage.setItem(place, value);
  } catch {
    // Nothing is remembered then, which the view of trust says.
  }
}
