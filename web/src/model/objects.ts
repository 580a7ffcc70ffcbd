// The objects of a use case or an option as its files have them, and what they have to do with each other: what mounts,
// reads, selects, runs as, calls and waits for what. Names are those of the files: nothing is built here.

import { InputError } from "../errors";
import type { Value } from "../judge/scalar";
import type { Files } from "./archive";
import { locate, type Document } from "./node";
import { join, KUSTOMIZATIONS } from "./package";
import { Reader } from "./values";
import { decode, parseText } from "./yaml";

export interface ObjectNode {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  /** The file and line where the object begins; the file is empty for what the cluster has to have. */
  readonly file: string;
  readonly line: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** `mounts`, `reads`, `selects`, `runs as`, `calls`, `waits for`, … */
  readonly word: string;
}

export interface Objects {
  readonly nodes: readonly ObjectNode[];
  readonly edges: readonly Edge[];
}

interface Found extends ObjectNode {
  readonly value: Mapped;
  /** Patches name objects that other files have. */
  readonly isPatch: boolean;
}

type Mapped = ReadonlyMap<string, Value>;

interface Reference {
  readonly kind: string;
  readonly name: string;
  readonly word: string;
}

const DEEPEST = 20; // kustomizations within one another
const MOST = 500; // objects that are drawn
/** Mappings that hold the name of another object, and the keys under which it may stand. */
const HOLDERS: ReadonlyMap<string, readonly [string, readonly string[], string]> = new Map([
  ["configMapRef", ["ConfigMap", ["name"], "reads"]],
  ["configMapKeyRef", ["ConfigMap", ["name"], "reads"]],
  ["configMap", ["ConfigMap", ["name"], "mounts"]],
  ["secretRef", ["Secret", ["name"], "reads"]],
  ["secretKeyRef", ["Secret", ["name"], "reads"]],
  ["secret", ["Secret", ["secretName", "name"], "mounts"]],
  ["persistentVolumeClaim", ["PersistentVolumeClaim", ["claimName"], "mounts"]],
]);
const NAMES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["serviceAccountName", ["ServiceAccount", "runs as"]],
  ["subdomain", ["Service", "is named by"]],
  ["volumeName", ["PersistentVolume", "binds"]],
  ["resourceClaimTemplateName", ["ResourceClaimTemplate", "claims by"]],
]);
/** Mappings that hold a kind and a name. */
const TYPED: ReadonlyMap<string, string> = new Map([
  ["roleRef", "grants"], ["runtimeRef", "runs by"], ["scaleTargetRef", "scales"], ["workflowTemplateRef", "runs"],
]);
const OPAQUE = new Set(["ConfigMap", "Secret", "CustomResourceDefinition"]);
/** What every namespace has. */
const ALWAYS = new Set(["ServiceAccount/default", "ConfigMap/kube-root-ca.crt"]);

/** The objects that the kustomization of a folder brings, patches or names, with what is between them. */
export function objectsIn(files: Files, folder: string): Objects {
  const found = kustomized(files, folder, 0);
  const objects = new Map<string, Found>();
  for (const each of found) if (!objects.has(each.id) || !each.isPatch) objects.set(each.id, each);
  if (objects.size > MOST) throw new InputError(`${folder}: more than ${MOST} objects are not drawn`);
  const edges = found.flatMap((each) => [...referencesOf(each), ...selectionsOf(each, found), ...callsOf(each, objects)]);
  const nodes = new Map<string, ObjectNode>([...objects].map(([id, { kind, name, file, line }]) => [id, { id, kind, name, file, line }]));
  for (const { to } of edges) {
    const [kind = "", name = ""] = to.split("/");
    if (!nodes.has(to)) nodes.set(to, { id: to, kind, name, file: "", line: 0 });
  }
  const unique = new Map(edges.filter(({ from, to }) => from !== to).map((edge) => [`${edge.from} ${edge.word} ${edge.to}`, edge]));
  return { nodes: [...nodes.values()], edges: [...unique.values()] };
}

/** Kinds and names of the objects that a folder's kustomization brings, and of those that it patches. */
export function broughtBy(files: Files, folder: string): { adds: string[]; patches: string[] } {
  const found = kustomized(files, folder, 0);
  const names = (isPatch: boolean): string[] => [...new Set(found.filter((each) => each.isPatch === isPatch).map(({ kind, name }) => `${kind} ${name}`.trim()))];
  return { adds: names(false), patches: names(true) };
}

function kustomized(files: Files, folder: string, depth: number): Found[] {
  const file = KUSTOMIZATIONS.map((name) => join(folder, name)).find((path) => files.has(path));
  const [root] = file === undefined || depth > DEEPEST ? [] : valuesIn(files, file);
  if (!root || file === undefined) return [];
  const inside = (path: string): Found[] => {
    const target = normalized(join(folder, path));
    return files.has(target) ? objectsOf(files, target, false) : kustomized(files, target, depth + 1);
  };
  return [
    ...[...textsOf(root.value.get("resources")), ...textsOf(root.value.get("components"))].flatMap(inside),
    ...["configMapGenerator", "secretGenerator"].flatMap((key) => generated(root.value, key, file, root.lineOf(key))),
    ...patchesOf(root.value, files, folder, file),
  ];
}

function generated(root: Mapped, key: string, file: string, line: number): Found[] {
  const kind = key === "configMapGenerator" ? "ConfigMap" : "Secret";
  return mappingsOf(root.get(key)).map((value) => {
    const name = textOf(value.get("name"));
    return { id: `${kind}/${name}`, kind, name, file, line, value: new Map(), isPatch: false };
  });
}

function patchesOf(root: Mapped, files: Files, folder: string, file: string): Found[] {
  const listed = mappingsOf(root.get("patches"));
  const paths = [...listed.map((each) => textOf(each.get("path"))), ...textsOf(root.get("patchesStrategicMerge"))];
  const written = listed.flatMap((each) => valuesOfText(textOf(each.get("patch")), file));
  const targets = listed.flatMap((each): Found[] => {
    const target = mapOf(each.get("target"));
    const [kind, name] = [textOf(target.get("kind")), textOf(target.get("name"))];
    return kind === "" ? [] : [{ id: `${kind}/${name}`, kind, name, file, line: 1, value: new Map(), isPatch: true }];
  });
  const named = paths.filter((path) => path !== "").flatMap((path) => objectsOf(files, normalized(join(folder, path)), true));
  return [...named, ...written.flatMap((document) => foundIn(document, file, true)), ...targets.filter(({ name }) => name !== "")];
}

function objectsOf(files: Files, path: string, isPatch: boolean): Found[] {
  return valuesIn(files, path).flatMap((document) => foundIn(document, path, isPatch));
}

function foundIn(document: ReadDocument, file: string, isPatch: boolean): Found[] {
  const { value } = document;
  const kind = textOf(value.get("kind"));
  const name = textOf(mapOf(value.get("metadata")).get("name"));
  if (kind === "" || name === "") return [];
  return [{ id: `${kind}/${name}`, kind, name, file, line: document.line, value, isPatch }];
}

interface ReadDocument {
  readonly value: Mapped;
  readonly line: number;
  lineOf(key: string): number;
}

function valuesIn(files: Files, path: string): ReadDocument[] {
  const data = files.get(path);
  if (!data) return [];
  try {
    return valuesOfText(decode(data, path), path);
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

function valuesOfText(source: string, path: string): ReadDocument[] {
  try {
    return parseText(source, path).flatMap((document) => read(document));
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

function read({ root, source }: Document): ReadDocument[] {
  if (root?.kind !== "mapping") return [];
  const value = new Reader(root).value(root);
  if (!(value instanceof Map)) return [];
  const place = (position: number): number => locate(source, position).line;
  const lineOf = (key: string): number => place(root.children.find((child) => child.key?.kind === "scalar" && child.key.value === key)?.start ?? root.start);
  return [{ value: value as Mapped, line: place(root.start), lineOf }];
}

/** What an object names in its fields. */
function referencesOf(found: Found): Edge[] {
  if (OPAQUE.has(found.kind)) return [];
  return [...named(found.value)].filter(({ kind, name }) => name !== "" && !ALWAYS.has(`${kind}/${name}`))
    .map(({ kind, name, word }) => ({ from: found.id, to: `${kind}/${name}`, word }));
}

function* named(value: Value): Generator<Reference> {
  if (Array.isArray(value)) {
    for (const item of value as readonly Value[]) yield* named(item);
    return;
  }
  if (!(value instanceof Map)) return;
  for (const [key, member] of value as Mapped) {
    yield* ofField(key, member);
    yield* named(member);
  }
}

function* ofField(key: string, member: Value): Generator<Reference> {
  const [holder, name, typed] = [HOLDERS.get(key), NAMES.get(key), TYPED.get(key)];
  if (holder && member instanceof Map) {
    const [kind, keys, word] = holder;
    yield { kind, name: keys.map((each) => textOf((member as Mapped).get(each))).find((each) => each !== "") ?? "", word };
  }
  if (name && typeof member === "string") yield { kind: name[0], name: member, word: name[1] };
  const members = key === "subjects" ? mappingsOf(member) : typed && member instanceof Map ? [member as Mapped] : [];
  for (const each of members) yield { kind: textOf(each.get("kind")), name: textOf(each.get("name")), word: typed ?? "grants to" };
}

/** What Services, NetworkPolicies and others select by labels. */
function selectionsOf(found: Found, all: readonly Found[]): Edge[] {
  const spec = mapOf(found.value.get("spec"));
  const selector = found.kind === "Service" ? mapOf(spec.get("selector"))
    : found.kind === "NetworkPolicy" ? labelsOf(spec.get("podSelector"))
    : found.kind === "PodDisruptionBudget" ? labelsOf(spec.get("selector")) : undefined;
  if (!selector || (selector.size === 0 && found.kind !== "NetworkPolicy")) return [];
  return all.filter((each) => podLabels(each).some((labels) => [...selector].every(([key, value]) => labels.get(key) === value)))
    .map((each) => ({ from: found.id, to: each.id, word: "selects" }));
}

function labelsOf(selector: Value | undefined): Mapped {
  return mapOf(mapOf(selector).get("matchLabels"));
}

function podLabels(found: Found): Mapped[] {
  return OPAQUE.has(found.kind) ? [] : [...pods(found.value)].map((pod) => mapOf(mapOf(pod.get("metadata")).get("labels")));
}

/** Mappings with the metadata and the spec of a pod. */
function* pods(value: Value): Generator<Mapped> {
  if (Array.isArray(value)) for (const item of value as readonly Value[]) yield* pods(item);
  if (!(value instanceof Map)) return;
  if (Array.isArray(mapOf(value.get("spec")).get("containers"))) yield value as Mapped;
  for (const member of (value as Mapped).values()) yield* pods(member);
}

/** Which Services a pod's containers name: what begins its work waits for them, the others call them. */
function callsOf(found: Found, objects: ReadonlyMap<string, Found>): Edge[] {
  const services = [...objects.values()].filter((each) => each.kind === "Service" && each.id !== found.id);
  if (services.length === 0 || OPAQUE.has(found.kind)) return [];
  return [...pods(found.value)].flatMap((pod) => {
    const spec = mapOf(pod.get("spec"));
    const groups: [string, Value | undefined][] = [["waits for", spec.get("initContainers")], ["calls", spec.get("containers")]];
    return groups.flatMap(([word, containers]) => {
      const written = [...strings(containers ?? null)].join("\n");
      return services.filter(({ name }) => isNamedAsHost(written, name)).map(({ id }) => ({ from: found.id, to: id, word }));
    });
  });
}

function isNamedAsHost(written: string, name: string): boolean {
  const quoted = name.replace(/[^a-z0-9-]/gi, "\\$&");
  return new RegExp(`(?:^|[/@\\s"'=,])${quoted}(?:[.:/\\s"',]|$)`, "m").test(written);
}

function* strings(value: Value): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value as readonly Value[]) yield* strings(item);
  else if (value instanceof Map) for (const member of (value as Mapped).values()) yield* strings(member);
}

function normalized(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: Value | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function mapOf(value: Value | undefined): Mapped {
  return value instanceof Map ? (value as Mapped) : new Map();
}

function mappingsOf(value: Value | undefined): Mapped[] {
  return Array.isArray(value) ? value.filter((item: Value): item is Mapped => item instanceof Map) : [];
}
