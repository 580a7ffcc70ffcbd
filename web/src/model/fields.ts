// The fields that setter comments bind. The places are those where kustomize 3.8.7 honors a comment:
//
//     a: 1 # C                behind a scalar            # C
//     - a # C                                            b: 1       alone above a key, or above a list item
//     l: [a, b] # C           every element              l: # C
//     {a: 1, # C                                         - a        the list, behind its key or above it

import { isList, type Setter } from "../judge/setter";
import type { Definition } from "./definitions";
import type { Step } from "./fieldtypes";
import { lineOf, nameOf, type Child, type Comment, type Node, type Scalar, type Sequence } from "./node";
import { parseReference, type Reference } from "./reference";

/** A field, and the reference of the comment that binds it. */
export interface Binding {
  readonly node: Scalar | Sequence;
  readonly path: readonly Step[];
  readonly reference: Reference;
}

/** Every bound field of a document in the order of the text. */
export function findBindings(root: Node | undefined): Binding[] {
  return root ? [...below(root, [])] : [];
}

/** Write a path as people do: `spec.containers[0].image`. */
export function pathText(path: readonly Step[]): string {
  return path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("").replace(/^\./, "");
}

/** Whether a definition gives this field its value: a list setter lists only, any other scalars only. */
export function sets(definition: Definition, node: Node): boolean {
  const isListed = "setter" in definition && setsLists(definition.setter);
  return isListed !== (node.kind === "scalar");
}

function setsLists(setter: Setter): boolean {
  return isList(setter) || (setter.values?.length ?? 0) > 0;
}

function* below(node: Node, path: readonly Step[]): Generator<Binding> {
  if (node.kind !== "mapping" && node.kind !== "sequence") return;
  for (const child of node.children) yield* ofChild(child, [...path, node.kind === "mapping" ? nameOf(child) : child.index]);
}

function* ofChild(child: Child, path: readonly Step[]): Generator<Binding> {
  const { value } = child;
  const behind = referenceOf(value.comment);
  const above = referenceOf(aloneAbove(child));
  if (value.kind === "scalar") {
    const chosen = behind ?? (child.key || value.comment === undefined ? above : undefined);
    if (chosen) yield { node: value, path, reference: chosen };
    return;
  }
  if (value.kind === "sequence") {
    const chosen = (child.comment ? referenceOf(child.comment) : above) ?? (value.flow ? behind : undefined);
    if (chosen && child.key) yield { node: value, path, reference: chosen };
    if (behind && value.flow) {
      for (const item of value.children) {
        if (item.value.kind === "scalar" && item.value.comment === undefined) {
          yield { node: item.value, path: [...path, item.index], reference: behind };
        }
      }
    }
  }
  if (!child.key && above) yield* firstIn(value, path, above);
  yield* below(value, path);
}

/** Bind what begins an item by the comment above the item: the first key's value, or the first item of its list. */
function* firstIn(value: Node, path: readonly Step[], above: Reference): Generator<Binding> {
  const first = value.kind === "mapping" || value.kind === "sequence" ? value.children[0] : undefined;
  if (!first) return;
  const step: Step = first.key ? nameOf(first) : 0;
  if (first.value.kind === "sequence" && first.key && first.comment === undefined) {
    yield { node: first.value, path: [...path, step], reference: above };
  }
  if (first.value.kind === "scalar" && referenceOf(first.value.comment) === undefined) {
    yield { node: first.value, path: [...path, step], reference: above };
  }
}

function referenceOf(comment: Comment | undefined): Reference | undefined {
  return comment && parseReference(comment.text);
}

/** The comment on the line above (behind the dash, for an item), if it is one line. */
function aloneAbove(child: Child): Comment | undefined {
  const { source } = child.value;
  const comment = child.head[child.head.length - 1];
  if (!comment || lineOf(source, child.start) !== lineOf(source, comment.start) + 1) return undefined;
  const other = child.head[child.head.length - 2];
  return other && lineOf(source, other.start) === lineOf(source, comment.start) - 1 ? undefined : comment;
}
