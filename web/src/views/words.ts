/** What people call things of packages. */
import type { Required } from "../model/manifest";
import type { PackageModel, UseCase } from "../model/package";

export interface Requirement {
  readonly words: string;
  readonly link: string;
  /** The use cases that need it; empty where all do. */
  readonly useCases: string;
}

const KINDS = new Map([
  ["CustomResourceDefinition", "the kind"],
  ["PersistentVolumeClaim", "the claim"],
  ["PodSecurity", "the Pod Security level"],
  ["NFS", "the NFS export"],
  ["CSIDriver", "the CSI driver"],
  ["Resource", "the resource"],
]);
const SOME = 3; // use cases that are named

/** Says what a text such as `PersistentVolumeClaim PVC_NAME` requires. */
export function requirement(text: string): string {
  const [kind = "", ...rest] = text.split(" ");
  return `${KINDS.get(kind) ?? kind} ${rest.join(" ")}`;
}

/** What the cluster needs for the use cases, each thing once. */
export function requirements({ manifest, useCases }: PackageModel): Requirement[] {
  const texts = [...new Set(useCases.flatMap((each) => each.requires))];
  const stated = manifest.requires.filter((each) => each.operator || each.secret || each.kubernetes);
  return [
    ...stated.map((each) => ({ words: ofAuthor(each), link: safe(each.link), useCases: "" })),
    ...texts.filter((text) => !/^(?:Secret|Kubernetes) /.test(text)).map((text) => ({ words: requirement(text), link: "", useCases: who(useCases, text) })),
  ];
}

function ofAuthor(each: Required): string {
  if (each.operator) return [each.operator, each.oldest && `${each.oldest} or newer`, each.description].filter(Boolean).join(", ");
  if (each.secret) return [`the Secret ${each.secret}`, each.keys.length && `with ${each.keys.join(", ")}`, each.description].filter(Boolean).join(" ");
  return `Kubernetes ${each.kubernetes} or newer`;
}

function who(useCases: readonly UseCase[], text: string): string {
  const names = useCases.filter((each) => each.requires.includes(text)).map((each) => each.name);
  if (names.length === useCases.length) return "";
  return names.length > SOME ? `${names.length} use cases` : names.join(", ");
}

/** An address that may be linked to. */
export function safe(address: string): string {
  return /^https:\/\//.test(address) ? address : "";
}
