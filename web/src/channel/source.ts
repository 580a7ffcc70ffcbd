/** Where the bytes of a channel come from: a web host, or the page itself, which was exported with them inside. */
import { MissingError, UnavailableError } from "../errors";

export type Bytes = Uint8Array<ArrayBuffer>;

export interface Source {
  /** The address that people type behind `--from`; empty if the page does not know it. */
  readonly address: string;
  /** Returns an object's bytes, at most `limit`; `fresh` asks the host whether it has newer ones. */
  get(key: string, limit: number, fresh?: boolean): Promise<Bytes>;
}

declare global {
  interface Window {
    /** What the page asked for before its scripts were there; see early.ts. */
    early?: { readonly address: string; readonly answer: Promise<Response> } | undefined;
  }
}

const PATIENCE = 30_000; // milliseconds without any byte

/** Fetches, the first time by the request that is on its way. */
export const fetchOrEarly: typeof fetch = (input, init) => {
  const early = globalThis.window?.early;
  if (!early || input !== early.address) return fetch(input, init);
  window.early = undefined;
  return early.answer;
};

export function hosted(base: string, fetcher: typeof fetch = fetchOrEarly): Source {
  const address = base.replace(/\/+$/, "");
  return { address, get: (key, limit, fresh = false) => download(fetcher, `${address}/${encoded(key)}`, limit, fresh) };
}

/** A version such as `1.0+cuda` has a `+`, which some hosts take for a space. */
function encoded(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

export function embedded(address: string, files: ReadonlyMap<string, string>): Source {
  return {
    address,
    async get(key) {
      const text = files.get(key);
      if (text === undefined) throw new MissingError(`This file holds no ${key}.`, "It is an export of some packages.");
      return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    },
  };
}

async function download(fetcher: typeof fetch, url: string, limit: number, fresh: boolean): Promise<Bytes> {
  const stop = new AbortController();
  const clock = new Clock(stop);
  try {
    clock.restart();
    const answer = await fetcher(url, {
      signal: stop.signal,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: fresh ? "no-cache" : "default",
    });
    check(answer, url);
    return await read(answer, url, limit, clock);
  } catch (error) {
    throw explained(error, url, stop.signal.aborted);
  } finally {
    clock.end();
  }
}

class Clock {
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor(private readonly stop: AbortController) {}
  restart(): void {
    this.end();
    this.#timer = setTimeout(() => this.stop.abort(), PATIENCE);
  }
  end(): void {
    clearTimeout(this.#timer);
  }
}

function check(answer: Response, url: string): void {
  if (answer.ok) return;
  if (answer.status === 404 || answer.status === 410) throw new MissingError(`${url} is not there.`);
  if (answer.status === 401 || answer.status === 403) {
    // Buckets whose objects cannot be listed answer so for what is not there.
    throw new MissingError(`The host gives no access to ${url}.`, "It may be missing, or not public.");
  }
  throw new UnavailableError(`The host answered ${answer.status} for ${url}.`, "Try again later.");
}

async function read(answer: Response, url: string, limit: number, clock: Clock): Promise<Bytes> {
  const reader = answer.body?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    clock.restart();
    size += piece.value.length;
    if (size > limit) {
      await reader?.cancel();
      throw new UnavailableError(`${url} is larger than ${limit} bytes.`, "Is this a channel?");
    }
    pieces.push(piece.value);
  }
  return joined(pieces, size);
}

export function joined(pieces: readonly Uint8Array[], size: number): Bytes {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function explained(error: unknown, url: string, isLate: boolean): unknown {
  if (isLate || (error instanceof DOMException && error.name === "TimeoutError")) return new UnavailableError(`The host sent nothing for ${PATIENCE / 1000} seconds: ${url}`, "Try again.");
  if (!(error instanceof TypeError)) return error;
  if (globalThis.navigator?.onLine === false) {
    return new UnavailableError("You are offline.", "What this page has read already can still be looked at. Connect, then try again.");
  }
  const elsewhere = globalThis.location !== undefined && new URL(url).origin !== globalThis.location.origin;
  const hint = elsewhere
    ? "It may be down, or not allow pages of other origins to read it: it has to send Access-Control-Allow-Origin."
    : "It may be down. Try again later.";
  return new UnavailableError(`${url} cannot be reached.`, hint);
}
