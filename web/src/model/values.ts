// The values of nodes, as `kustomize` reads them. Aliases stand for what they repeat, within a bound.

import { implicitType, scalarValue, type Plain, type ScalarType, type Value } from "../judge/scalar";
import { nameOf, problem, type Child, type Node, type Scalar } from "./node";

const TYPED = new Set(["int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`));
const MOST = 100_000; // values that aliases may stand for

/** The type that a scalar is read as, a string if it has quotes or a tag. */
export function typeOf(scalar: Scalar): ScalarType {
  return scalar.style === "plain" && scalar.tag === undefined ? implicitType(scalar.value) : "string";
}

/** Whether a node is null, for example `~` or nothing at all. */
export function isNull(node: Node | undefined): boolean {
  return node?.kind === "scalar" && (typeOf(node) === "null" || node.tag === "tag:yaml.org,2002:null");
}

export function plainOf(scalar: Scalar): Plain {
  const isTyped = scalar.tag === undefined ? scalar.style === "plain" : TYPED.has(scalar.tag);
  return isTyped ? scalarValue(scalar.value) : scalar.value;
}

/** Whether an entry's key is `<<`, without quotes. */
export function isMerge(child: Child): boolean {
  return child.key?.kind === "scalar" && child.key.value === "<<" && child.key.style === "plain";
}

/** Reads the nodes of one document, whose aliases refer to what stands before them. */
export class Reader {
  private readonly anchors = new Map<string, Node>();
  private left = MOST;

  constructor(root: Node | undefined) {
    this.note(root);
  }

  /** The node that an alias stands for, or the node itself. */
  resolve(node: Node): Node {
    if (node.kind !== "alias") return node;
    const target = this.anchors.get(node.name);
    const isInside = target !== undefined && target.start <= node.start && node.end <= target.end;
    if (target === undefined || isInside) throw problem(node, `*${node.name} refers to nothing before it`);
    return target;
  }

  value(node: Node): Value {
    this.left -= 1;
    if (this.left < 0) throw problem(node, `its aliases stand for more than ${MOST} values`);
    const found = this.resolve(node);
    if (found.kind === "scalar") return plainOf(found);
    if (found.kind === "sequence") return found.children.map((child) => this.value(child.value));
    return found.kind === "mapping" ? this.mapping(found.children) : null;
  }

  private mapping(children: readonly Child[]): ReadonlyMap<string, Value> {
    const value = new Map<string, Value>();
    for (const child of children) if (!isMerge(child)) value.set(this.keyOf(child), this.value(child.value));
    for (const child of children.filter(isMerge)) {
      const other = this.value(child.value);
      for (const each of Array.isArray(other) ? (other as readonly Value[]) : [other]) {
        if (each instanceof Map) for (const [key, member] of each as Map<string, Value>) if (!value.has(key)) value.set(key, member);
      }
    }
    return value;
  }

  private keyOf(child: Child): string {
    const key = child.key ? this.resolve(child.key) : undefined;
    return key?.kind === "scalar" ? key.value : nameOf(child);
  }

  private note(node: Node | undefined): void {
    if (!node || node.kind === "alias") return;
    if (node.anchor !== undefined && !this.anchors.has(node.anchor)) this.anchors.set(node.anchor, node);
    if (node.kind === "scalar") return;
    for (const child of node.children) {
      this.note(child.key);
      this.note(child.value);
    }
  }
}
