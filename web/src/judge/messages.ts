// What the page and the worker that judges values say to each other.

import type { Answer, Item, Question } from "./judgement";

/** `skipped` are things that took too long before, as JSON. */
export interface Request {
  readonly id: number;
  readonly question: Question;
  readonly skipped: readonly string[];
}

/** The worker says what it begins with, what it found, and when all is done. */
export type Reply =
  | { readonly id: number; readonly begun: Item }
  | { readonly id: number; readonly item: Item; readonly answer: Answer }
  | { readonly id: number; readonly done: true };
