// What `format` in a definition admits: what kustomize checks, and what Kubernetes users need beside it.
// A format checks text that is not empty; one that is not known admits everything, as in kustomize.

import { parseQuantity } from "./quantity";

interface Format {
  readonly admits: (value: string) => boolean;
  /** What follows "that". */
  readonly clause: string;
}

const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const HOST = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const IMAGE = new RegExp(
  "^(?:(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::[0-9]+)?/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*" +
    "(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$",
);
const LONGEST_IMAGE = 4096; // what no registry takes; the expression above takes time for long texts

function like(pattern: string, flags = ""): (value: string) => boolean {
  const expression = new RegExp(`^(?:${pattern})$`, flags);
  return (value) => value.length <= 253 && expression.test(value);
}

function within(low: number, high: number): (value: string) => boolean {
  return (value) => /^[0-9]{1,10}$/.test(value) && low <= Number(value) && Number(value) <= high;
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const [address = "", scope, ...rest] = text.split("%");
  if (scope === "" || rest.length > 0) return false;
  const last = address.slice(address.lastIndexOf(":") + 1);
  const mapped = last.includes(".") ? address.slice(0, address.length - last.length) + "0:0" : address;
  if (last.includes(".") && !isIpv4(last)) return false;
  const halves = mapped.split("::");
  const parts = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const isShort = halves.length === 2 && parts.length < 8;
  return (isShort || (halves.length === 1 && parts.length === 8)) && parts.every((part) => /^[0-9a-fA-F]{1,4}$/.test(part));
}

export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ["dns-label", { admits: (text: string) => text.length <= 63 && like(LABEL)(text), clause: "is a DNS label: at most 63 of a-z, 0-9 and -" }],
  ["dns-subdomain", { admits: like(`${LABEL}(?:\\.${LABEL})*`), clause: "is a DNS name: labels of a-z, 0-9 and -, with dots between them" }],
  ["hostname", { admits: like(`${HOST}(?:\\.${HOST})*`, "iu"), clause: "is the name of a host" }],
  ["quantity", { admits: (text: string) => parseQuantity(text) !== undefined, clause: "is a quantity, such as 500m or 2Gi" }],
  ["absolute-path", { admits: (text: string) => /^\/[^\0]*$/.test(text), clause: "is a path from /" }],
  ["image", { admits: (text: string) => text.length <= LONGEST_IMAGE && IMAGE.test(text), clause: "names an image, such as registry/name:tag" }],
  ["ip", { admits: (text: string) => isIpv4(text) || isIpv6(text), clause: "is an IP address" }],
  ["ipv4", { admits: isIpv4, clause: "is an IPv4 address" }],
  ["ipv6", { admits: isIpv6, clause: "is an IPv6 address" }],
  ["port", { admits: within(1, 65535), clause: "is a port, 1 to 65535" }],
  ["uid", { admits: within(0, 2 ** 31 - 1), clause: "is the number of a user or a group" }],
]);

/** Whether a format admits a text. */
export function formatAdmits(name: string, value: string): boolean {
  return FORMATS.get(name)?.admits(value) ?? true;
}
