/** The record of a package: its versions, the oldest first, what each says of itself, and those that were removed. */
import { InputError, IntegrityError } from "../errors";
import { DIGEST } from "./digest";
import { document, list, object, size, text, textMap, texts, type Fields } from "./json";

export const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const VERSION = /^v?[0-9][0-9A-Za-z._+-]{0,126}$/;

export interface Version {
  readonly version: string;
  readonly tar: string;
  readonly digest: string;
  readonly size: number;
  readonly useCases: readonly string[];
  readonly model: ReadonlyMap<string, string>;
  readonly description: string;
  readonly yanked: string;
}

/** A version that was removed, why, and the ids of the keys that signed that. */
export interface Removed {
  readonly version: string;
  readonly digest: string;
  readonly reason: string;
  readonly by: readonly string[];
}

export interface PackageRecord {
  readonly name: string;
  readonly latest: string;
  readonly versions: readonly Version[];
  readonly removed: readonly Removed[];
}

export function record(data: Uint8Array, name: string): PackageRecord {
  const what = `The record of ${name}`;
  const fields = document(data, "IndexPackage", what);
  if (text(fields.get("name"), what) !== name) throw new IntegrityError(`The index has another package's record under ${name}.`);
  const versions = list(fields.get("versions"), what).map((value) => version(new Map([...fields, ...object(value, what)]), what));
  const removed = list(fields.get("removed") ?? [], what).map((value) => gone(object(value, what), name, what));
  const all = [...versions, ...removed].map((each) => each.version);
  if (!all.length || new Set(all).size < all.length) throw new IntegrityError(`${what} should have one or more versions, each once.`);
  return { name, latest: text(fields.get("latest") ?? "", what), versions, removed };
}

function identified(fields: Fields, what: string): Pick<Version, "version" | "tar" | "digest"> {
  const [digest, tar] = [text(fields.get("digest"), what), text(fields.get("tar"), what)];
  const spelled = text(fields.get("version"), what);
  if (!DIGEST.test(digest) || !DIGEST.test(tar) || !VERSION.test(spelled)) {
    throw new IntegrityError(`${what} has a version that is damaged: ${spelled.slice(0, 80)}`);
  }
  return { version: spelled, tar, digest };
}

function gone(fields: Fields, name: string, what: string): Removed {
  if (fields.get("name") !== name) throw new IntegrityError(`${what} says that a version of another package was removed.`);
  return { ...identified(fields, what), reason: text(fields.get("reason"), what), by: texts(fields.get("by"), what) };
}

function version(fields: Fields, what: string): Version {
  return {
    ...identified(fields, what),
    size: size(fields.get("size"), what),
    useCases: texts(fields.get("useCases"), what),
    model: textMap(fields.get("model"), what),
    description: text(fields.get("description") ?? "", what),
    yanked: text(fields.get("yanked") ?? "", what),
  };
}

/** Returns the version that is asked for, or the latest; the last one where all are yanked. */
export function choose(found: PackageRecord, asked: string): Version | undefined {
  if (asked) return found.versions.find((each) => each.version === asked);
  return found.versions.find((each) => each.version === found.latest) ?? found.versions.at(-1);
}

/** Says why a version is not there: it was removed, or never was. */
export function absent({ name, versions, removed }: PackageRecord, asked: string): InputError {
  const there = versions.map((each) => each.version).slice(-5).join(", ");
  const found = removed.find((each) => each.version === asked);
  const message = found ? `${name}@${asked} was removed: ${found.reason}.` : asked ? `${name} has no version ${asked.slice(0, 80)}.` : `Every version of ${name} was removed.`;
  return new InputError(message, there ? `It has ${there}.` : "");
}
