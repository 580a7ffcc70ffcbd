// Patterns as kustomize means them: Go's regular expressions, matched in linear time by re2js.

import { RE2JS } from "re2js";
import { lengthOf } from "./words";

const LONGEST = 4096;
const STEPS = 1 << 25; // instructions times characters, as packyard counts them

/** A pattern is invalid, or too large for the text to be matched. */
export class PatternError extends Error {}

const compiled = new Map<string, RE2JS | PatternError>();

/** What is wrong with a pattern, in the words of Go's parser; an empty text where nothing is. */
export function fault(pattern: string): string {
  const known = compile(pattern);
  return known instanceof PatternError ? known.message : "";
}

/** Search for a pattern in a text; throws `PatternError`. */
export function matches(pattern: string, text: string): boolean {
  const known = compile(pattern);
  if (known instanceof PatternError) throw known;
  const length = lengthOf(text);
  if (known.programSize() * length > STEPS) {
    throw new PatternError(`it is too large to be matched against ${length} characters`);
  }
  return known.matcher(text).find();
}

function compile(pattern: string): RE2JS | PatternError {
  const known = compiled.get(pattern) ?? tried(pattern);
  compiled.set(pattern, known);
  return known;
}

function tried(pattern: string): RE2JS | PatternError {
  if (lengthOf(pattern) > LONGEST) {
    return new PatternError(`expression too large: it has more than ${LONGEST} characters`);
  }
  if (!isWellFormed(pattern)) return new PatternError("invalid UTF-8");
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message.replace(/^error parsing regexp: /, "");
    return new PatternError(message.endsWith("end of expression") ? `${message}: \`\`` : message);
  }
}

/** Whether a text has no half of a surrogate pair, so that UTF-8 can hold it. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
