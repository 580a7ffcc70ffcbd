// The values of nodes as `kustomize build` reads them: a whole number with a fraction of zero is whole, a date is a
// time. What it refuses is refused, so that the file is compared as bytes.

import { implicitType, scalarValue, type Plain, type Value } from "../judge/scalar";
import { nameOf, problem, type Child, type Node, type Scalar } from "../model/node";
import { isMerge, Reader } from "../model/values";

const CORE = "tag:yaml.org,2002:";
const TAGS = new Map([["int", ["integer"]], ["float", ["integer", "number"]], ["bool", ["boolean"]], ["null", ["null"]]]);
const REFUSED = /[\x7f-\x9f\ufffe\uffff]/;
const TIME =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:([Tt])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2})| +(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?)?$/;

/** Reads values of one document. */
export class StrictReader {
  constructor(private readonly reader: Reader) {}

  resolve(node: Node): Node {
    return this.reader.resolve(node);
  }

  value(node: Node, isFlow = false): Value {
    const found = this.reader.resolve(node);
    if (found.kind === "scalar") return readScalar(found, isFlow);
    if (found.kind === "alias") return null;
    if (found.tag !== undefined) throw problem(found, `a collection of type '${found.tag}' cannot be read`);
    const inside = isFlow || found.flow;
    if (found.kind === "sequence") return found.children.map((child) => this.value(child.value, inside));
    return this.mapping(found, found.children, inside);
  }

  private mapping(node: Node, children: readonly Child[], isFlow: boolean): ReadonlyMap<string, Value> {
    const value = new Map<string, Value>();
    for (const child of children) if (!isMerge(child)) value.set(keyOf(child), this.value(child.value, isFlow));
    for (const child of children.filter(isMerge)) {
      const other = this.value(child.value, isFlow);
      for (const each of Array.isArray(other) ? (other as readonly Value[]) : [other]) {
        if (!(each instanceof Map)) throw problem(node, "a merge key takes mappings");
        for (const [key, member] of each as Map<string, Value>) if (!value.has(key)) value.set(key, member);
      }
    }
    return value;
  }
}

function keyOf(child: Child): string {
  const key = child.key;
  if (key?.kind === "scalar") {
    const isQuoted = key.style !== "plain" && key.value !== "<<";
    if (isQuoted || implicitType(key.value) === "string") return nameOf(child);
  }
  throw problem(key ?? child.value, "the key must be text");
}

/** The value of a scalar; inside brackets a missing value is an empty text. */
export function readScalar(node: Scalar, isFlow = false): Plain {
  const value = valueOf(node, isFlow);
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw problem(node, `'${node.value}' cannot be given to a cluster as a number`);
  }
  const refused = typeof value === "string" ? REFUSED.exec(value) : null;
  if (refused) {
    const code = refused[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    throw problem(node, `holds the control character U+${code}`);
  }
  return value;
}

function valueOf(node: Scalar, isFlow: boolean): Plain {
  if (node.tag === undefined || node.tag === "!") {
    const isPlain = node.tag === "!" || node.style === "plain";
    const isText = isFlow && isPlain && (node.value === "" || node.value.includes(":"));
    return isPlain && !isText ? readPlain(node.value) : node.value;
  }
  if (node.tag === `${CORE}str`) return node.value;
  const types = TAGS.get(node.tag.replace(CORE, "")) ?? [];
  if (types.includes(implicitType(node.value))) return readPlain(node.value);
  throw problem(node, `'${node.value}' has a tag that packyard's own build cannot read`);
}

/** The value of text that stands without quotes. */
export function readPlain(text: string): Plain {
  const value = scalarValue(text);
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63 && !Object.is(value, -0)) {
    return BigInt(value);
  }
  return typeof value === "string" ? (timeOf(value) ?? value) : value;
}

/** A date or time as kustomize writes it out, `2020-01-01T00:00:00Z`. */
function timeOf(text: string): string | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0] = match.slice(1, 4).map(Number);
  const [hour, minute, second] = (match[4] ? match.slice(5, 8) : match.slice(10, 13)).map((digits) => Number(digits ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()) return undefined;
  const zone = match[9] ?? "Z";
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59 || zone.slice(1, 3) > "23" || zone.slice(4) > "59") return undefined;
  const fraction = (match[8] ?? match[13] ?? "").slice(0, 9).replace(/0+$/, "");
  const two = (number = 0): string => String(number).padStart(2, "0");
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return `${date}T${two(hour)}:${two(minute)}:${two(second)}${fraction && `.${fraction}`}${zone.slice(1) === "00:00" ? "Z" : zone}`;
}
