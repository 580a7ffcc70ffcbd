/** The record of a package: its versions, the oldest first, and what each says of itself. */
import { IntegrityError } from "../errors";
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

export interface PackageRecord {
  readonly name: string;
  readonly latest: string;
  readonly versions: readonly Version[];
}

export function record(data: Uint8Array, name: string): PackageRecord {
  const what = `The record of ${name}`;
  const fields = document(data, "IndexPackage", what);
  if (text(fields.get("name"), what) !== name) throw new IntegrityError(`The index has another package's record under ${name}.`);
  const versions = list(fields.get("versions"), what).map((value) => version(new Map([...fields, ...object(value, what)]), what));
  if (!versions.length) throw new IntegrityError(`${what} has no version.`);
  return { name, latest: text(fields.get("latest") ?? "", what), versions };
}

function version(fields: Fields, what: string): Version {
  const [digest, tar] = [text(fields.get("digest"), what), text(fields.get("tar"), what)];
  const spelled = text(fields.get("version"), what);
  if (!DIGEST.test(digest) || !DIGEST.test(tar) || !VERSION.test(spelled)) {
    throw new IntegrityError(`${what} has a version that is damaged: ${spelled.slice(0, 80)}`);
  }
  return {
    version: spelled,
    tar,
    digest,
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
