// Asks the worker that makes HTML, and stops it where it takes too long: a tab never hangs.
import text from "worker-text/markup";
import { start } from "../worker";
import type { Asked } from "./worker";

declare const MARKUP: string;

const LOADED = 10_000; // milliseconds until the worker is there
const TIME = 2000; // milliseconds that a text may take

let worker: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Returns HTML that nobody has made harmless yet; undefined for what takes too long. One text is made after the other. */
export function htmlOf(asked: Asked): Promise<string | undefined> {
  const next = last.then(() => made(asked));
  last = next;
  return next;
}

async function made(asked: Asked): Promise<string | undefined> {
  if (!worker) {
    worker = start(MARKUP, text);
    await answer(worker, LOADED);
  }
  worker.postMessage(asked);
  const html = await answer(worker, TIME);
  if (html !== undefined) return html;
  worker.terminate();
  worker = undefined;
  return undefined;
}

function answer(from: Worker, time: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), time);
    const finish = (html: string | undefined): void => {
      clearTimeout(timer);
      resolve(html);
    };
    from.onmessage = ({ data }: MessageEvent<string | undefined>) => finish(data);
    from.onerror = () => finish(undefined);
  });
}
