// Bytes of a YAML file to documents of positioned nodes. The grammar is the library's; which comment belongs to which
// node is packyard's, as setters depend on it.

import { isAlias, isMap, isPair, isScalar, isSeq, parseAllDocuments, type Node as YamlNode, type Pair } from "yaml";
import { InputError } from "../errors";
import { placeComments, type Token } from "./comments";
import { lineOf, nameOf, problem, sourceOf, type Child, type Document, type Mapping, type Node, type Sequence, type Source } from "./node";

const MAX_DEPTH = 200;
const MOST_VALUES = 250_000;
const LONGEST = 8 << 20; // characters of a file

const STYLES = new Map<string | undefined, "plain" | "'" | '"' | "|" | ">">([
  ["QUOTE_SINGLE", "'"], ["QUOTE_DOUBLE", '"'], ["BLOCK_LITERAL", "|"], ["BLOCK_FOLDED", ">"],
]);

/** The text of a file without its byte order mark; it has to be UTF-8. */
export function decode(data: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    throw new InputError(`${name}: not UTF-8`);
  }
}

/** Parse every document of a file; throws `InputError` for what is not YAML, and for what is too deep or too long. */
export function parseFile(data: Uint8Array, name: string): Document[] {
  return parseText(decode(data, name), name);
}

export function parseText(text: string, name: string): Document[] {
  const source = sourceOf(name, text);
  if (text.length > LONGEST) throw new InputError(`${name}: is longer than ${LONGEST} characters`);
  const builder = new Builder(source);
  const documents: Document[] = [];
  for (const parsed of parsedOf(source)) {
    builder.beginDocument();
    const root = parsed.contents === null || isEmpty(parsed.contents) ? undefined : builder.node(parsed.contents, 0);
    documents.push({ source, root });
  }
  placeComments(source, builder.tokens);
  return documents;
}

function parsedOf(source: Source): { contents: YamlNode | null }[] {
  try {
    const parsed = parseAllDocuments(source.text, { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
    const documents = Array.isArray(parsed) ? parsed : [];
    for (const { errors: [error] } of documents) {
      if (error) throw new InputError(`${source.name}:${lineOf(source, error.pos[0])}: ${error.message}`);
    }
    return documents as { contents: YamlNode | null }[];
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${source.name}: nested deeper than ${MAX_DEPTH} levels`);
    throw error;
  }
}

function isEmpty(node: YamlNode): boolean {
  return isScalar(node) && node.source === "" && !node.anchor && !node.tag && node.type === "PLAIN";
}

/** Makes nodes of the library's, and notes the tokens that comments stand behind or above. */
class Builder {
  readonly tokens: Token[] = [];
  private starting: Child[] = [];
  private left = MOST_VALUES;
  private readonly anchors = new Set<string>();

  constructor(private readonly source: Source) {}

  /** Anchors are known in their own document alone. */
  beginDocument(): void {
    this.anchors.clear();
  }

  node(from: YamlNode, depth: number, key?: Child): Node {
    this.left -= 1;
    if (this.left < 0) throw new InputError(`${this.source.name}: holds more than ${MOST_VALUES} values`);
    const [position, end] = from.range ?? [0, 0];
    const start = this.withProperties(from, position);
    const anchor = isAlias(from) ? undefined : from.anchor;
    if (anchor !== undefined) this.anchors.add(anchor);
    const base = { source: this.source, start, end: Math.max(start, end), comment: undefined, anchor, tag: isAlias(from) ? undefined : tagOf(from) };
    if (isAlias(from) && !this.anchors.has(from.source)) throw problem({ ...base, kind: "alias", name: from.source }, `*${from.source} refers to nothing before it`);
    if (isAlias(from)) return this.token({ ...base, kind: "alias", name: from.source }, key);
    if (isScalar(from)) {
      const style = STYLES.get(from.type ?? undefined) ?? "plain";
      return this.token({ ...base, kind: "scalar", value: typeof from.value === "string" ? from.value : (from.source ?? ""), style }, key);
    }
    const flow = (isMap(from) || isSeq(from)) && from.flow === true;
    const node: Mapping | Sequence = { ...base, kind: isMap(from) ? "mapping" : "sequence", flow, children: [] };
    if (depth >= MAX_DEPTH) throw problem(node, `nested deeper than ${MAX_DEPTH} levels`);
    if (flow) this.note(start, start + 1, undefined, key);
    if (isMap(from)) from.items.forEach((pair, index) => this.entry(node, pair as Pair<YamlNode, YamlNode | null>, index, depth));
    else if (isSeq(from)) from.items.forEach((item, index) => this.item(node, item as YamlNode | Pair<YamlNode, YamlNode | null>, index, depth));
    if (flow) this.note(node.end - 1, node.end, node, undefined);
    else node.end = this.tokens[this.tokens.length - 1]?.end ?? node.end;
    return node;
  }

  private entry(parent: Mapping | Sequence, pair: Pair<YamlNode, YamlNode | null>, index: number, depth: number): void {
    const start = this.withProperties(pair.key, pair.key.range?.[0] ?? parent.start);
    const child = this.begin(start, index);
    const key = this.node(pair.key, depth + 1, child);
    const value = pair.value ? this.node(pair.value, depth + 1) : this.missing(key.end);
    parent.children.push(Object.assign(child, { key, value }));
  }

  private item(parent: Mapping | Sequence, item: YamlNode | Pair<YamlNode, YamlNode | null>, index: number, depth: number): void {
    if (isPair(item)) throw problem(parent, "a pair in a list cannot be read");
    const child = this.begin(this.withProperties(item, item.range?.[0] ?? parent.start), index);
    parent.children.push(Object.assign(child, { value: this.node(item, depth + 1) }));
  }

  private begin(start: number, index: number): Child {
    const child: Child = { key: undefined, value: this.missing(start), start, index, head: [], foot: [], comment: undefined };
    this.starting.push(child);
    return child;
  }

  private missing(start: number): Node {
    return { kind: "scalar", source: this.source, start, end: start, comment: undefined, tag: undefined, anchor: undefined, value: "", style: "plain" };
  }

  private token(node: Node, key: Child | undefined): Node {
    this.note(node.start, node.end, node, key);
    return node;
  }

  private note(start: number, end: number, node: Node | undefined, entry: Child | undefined): void {
    const before = this.tokens[this.tokens.length - 1];
    const owner = this.starting[this.starting.length - 1] ?? before?.owner;
    this.tokens.push({ start, end, node, entry, children: this.starting, owner });
    this.starting = [];
  }

  /** Where a node begins with its anchor and tag, which the library leaves out of its range. */
  private withProperties(from: YamlNode, position: number): number {
    if (isAlias(from) || (!from.anchor && !from.tag)) return position;
    const before = /(?:[&!]\S*[ \t\r\n]+){1,2}$/.exec(this.source.text.slice(Math.max(0, position - 400), position));
    return before ? position - before[0].length : position;
  }
}

function tagOf(node: YamlNode): string | undefined {
  return isAlias(node) ? undefined : (node.tag ?? undefined);
}

/** Refuse a document in which one mapping has a key twice, as kustomize does. */
export function checkKeys(node: Node | undefined): void {
  if (node?.kind !== "mapping" && node?.kind !== "sequence") return;
  const seen = new Set<string>();
  for (const child of node.children) {
    if (child.key?.kind === "scalar") {
      if (seen.has(child.key.value)) throw problem(child.key, `key '${nameOf(child)}' occurs twice in one mapping`);
      seen.add(child.key.value);
    }
    checkKeys(child.value);
  }
}
