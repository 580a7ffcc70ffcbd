// Channels with a root of keys, those of tests/cases/trust: each is opened as the page opens it, and judged as packyard judges it.
import type { Version } from "../src/channel/record";
import type { Bytes, Source } from "../src/channel/source";
import { InputError, MissingError } from "../src/errors";
import { openPage, provenanceTrust } from "../src/page";

/** What case.json says of a channel. */
export interface Case {
  readonly now: string;
  readonly accepts: boolean;
  readonly head?: number;
  readonly signers?: readonly string[];
  readonly package?: string;
  readonly version?: string;
  readonly digest?: string;
}

/** Returns a file of a case, or undefined. */
export type Read = (path: string) => Promise<Bytes | undefined>;

/** Returns the head and its signers, or the words of the refusal. A clock that stands at the time of the case is set before. */
export async function judged(read: Read, said: Case): Promise<{ head: number; signers: readonly string[] } | string> {
  const source: Source = {
    address: "https://models.example.com",
    async get(key) {
      const data = await read(`channel/${key}`);
      if (!data) throw new MissingError(`${key} is not there.`);
      return data;
    },
  };
  const pinned = new TextDecoder().decode(await read("pinned.root.json"));
  try {
    const { channel, proof } = await openPage({ title: "", source, place: "", hostKeys: [pinned], isExport: false });
    const version = { version: said.version, digest: said.digest } as Version;
    if (said.package) await channel.provenance(said.package, version, provenanceTrust(proof, said.package));
    return { head: channel.head.number, signers: channel.head.signers };
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error; // a fault of the page is no refusal
  } finally {
    globalThis.localStorage?.clear();
  }
}
