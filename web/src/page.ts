/** What the page knows of itself: its channel, the keys that its host names, and what this browser remembers. */
import { openChannel, type Channel } from "./channel/channel";
import { HAS_CRYPTO } from "./channel/digest";
import type { Remembered } from "./channel/head";
import { object, text, texts } from "./channel/json";
import { embedded, hosted, type Source } from "./channel/source";
import { NOBODY, type Trust } from "./trust/envelope";
import { publicKey, type PublicKey } from "./trust/keys";

export interface Settings {
  readonly title: string;
  readonly source: Source;
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
  if (!given.isExport && HAS_CRYPTO) memory(given.source.address).write(channel.head);
  return { settings: given, channel, proof };
}

async function proofOf({ source, hostKeys }: Settings): Promise<Proof> {
  if (!HAS_CRYPTO) return { trust: NOBODY, from: "nobody", keys: [] };
  const pasted = stored(keyPlace(source.address));
  const pems = pasted === null ? hostKeys : [pasted];
  const keys = await Promise.all(pems.map(publicKey));
  return { trust: { keys, revoked: [] }, from: pasted !== null ? "reader" : keys.length ? "host" : "nobody", keys };
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
