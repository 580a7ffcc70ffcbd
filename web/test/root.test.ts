// A root of keys as python-tuf writes it, made here with WebCrypto: followed, refused, revoked, expired.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes, Source } from "../src/channel/source";
import { MissingError } from "../src/errors";
import { signedBytes } from "../src/trust/envelope";
import { publicKey } from "../src/trust/keys";
import { checkHead, follow, headTrust, packageTrust, pinned } from "../src/trust/root";

const CHANNEL = "0".repeat(32);
const NOW = Date.parse("2026-11-26T12:00:00Z");

interface Signer {
  readonly id: string;
  readonly raw: string;
  sign(data: Bytes): Promise<Bytes>;
}

const hex = (data: ArrayBuffer): string => Buffer.from(data).toString("hex");

async function signer(): Promise<Signer> {
  const pair = (await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"])) as CryptoKeyPair;
  const der = await crypto.subtle.exportKey("spki", pair.publicKey);
  const id = `sha256:${hex(await crypto.subtle.digest("SHA-256", der))}`;
  const sign = async (data: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, pair.privateKey, data));
  return { id, raw: hex(der).slice(24), sign };
}

function spelled(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spelled).join(",")}]`;
  if (typeof value === "object" && value !== null) return `{${Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => `${JSON.stringify(key)}:${spelled(item)}`).join(",")}}`;
  return JSON.stringify(value);
}

async function root(version: number, keys: readonly Signer[], signers: readonly Signer[], more: object = {}, threshold = 2): Promise<string> {
  const role = { keyids: keys.map(({ id }) => id), threshold };
  const signed = {
    _type: "root", spec_version: "1.0.31", version, expires: "2027-11-26T00:00:00Z", consistent_snapshot: true,
    keys: Object.fromEntries(keys.map(({ id, raw }) => [id, { keytype: "ed25519", scheme: "ed25519", keyval: { public: raw } }])),
    roles: { root: role, timestamp: { keyids: role.keyids, threshold: 1 }, snapshot: role, targets: role },
    "x-packyard": { channel: CHANNEL, ...more },
  };
  const data = new TextEncoder().encode(spelled(signed));
  const signatures = await Promise.all(signers.map(async (each) => ({ keyid: each.id, sig: hex((await each.sign(data)).buffer) })));
  return JSON.stringify({ signatures, signed });
}

function source(files: Record<string, string>): Source {
  return {
    address: "",
    async get(key) {
      const found = files[key];
      if (found === undefined) throw new MissingError(key);
      return new TextEncoder().encode(found);
    },
  };
}

async function envelope(payload: object, type: string, signers: readonly Signer[]): Promise<string> {
  const data = new TextEncoder().encode(JSON.stringify(payload));
  const signatures = await Promise.all(signers.map(async (each) => ({ keyid: each.id, sig: Buffer.from(await each.sign(signedBytes(data, type))).toString("base64") })));
  return JSON.stringify({ payload: Buffer.from(data).toString("base64"), payloadType: type, signatures });
}

const [a, b, c, d] = await Promise.all([signer(), signer(), signer(), signer()]) as [Signer, Signer, Signer, Signer];

test("a root is followed over a rotation that a threshold of both signed", async () => {
  const first = await pinned(await root(1, [a, b, c], [a, b]));
  const files = { "index/root/2.root.json": await root(2, [b, c, d], [a, b, c]) };
  const { root: last } = await follow(source(files), first, NOW);
  assert.equal(last.version, 2);
  assert.deepEqual(headTrust({ root: last, revoked: [] }).keys.map(({ id }) => id), [b.id, c.id, d.id]);
});

test("a root is refused that too few signed, or a signature of which counts twice", async () => {
  await assert.rejects(pinned(await root(1, [a, b, c], [a])), /signed by 1 of the 2 keys/);
  await assert.rejects(pinned(await root(1, [a, b, c], [a, a])), /signed by 1 of the 2 keys/);
  const first = await pinned(await root(1, [a, b], [a, b]));
  const files = { "index/root/2.root.json": await root(2, [c, d], [c, d]) };
  await assert.rejects(follow(source(files), first, NOW), /Root 2 of this channel is signed by 0/);
});

test("a root is refused that expired, that is another channel's, or that calls a key by another name", async () => {
  const first = await pinned(await root(1, [a, b], [a, b]));
  await assert.rejects(follow(source({}), first, Date.parse("2028-01-01T00:00:00Z")), /expired on 2027/);
  const other = { "index/root/2.root.json": await root(2, [a, b], [a, b], { channel: "1".repeat(32) }) };
  await assert.rejects(follow(source(other), first, NOW), /another channel's/);
  const renamed = (await root(1, [a, b], [a, b])).replaceAll(a.id, `sha256:${"1".repeat(64)}`);
  await assert.rejects(pinned(renamed), /whose id is/);
});

test("keys are revoked by those who may, and by nobody else", async () => {
  const first = await pinned(await root(1, [a, b, c], [a, b], { revocation: { keyids: [c.id], threshold: 1 } }));
  const said = { apiVersion: "packyard/v1", kind: "Revoked", channel: CHANNEL, version: 1, revoked: [a.id] };
  const type = "application/vnd.packyard.revoked+json";
  const by = async (who: Signer): Promise<readonly string[]> => (await follow(source({ "index/revoked/1.json": await envelope(said, type, [who]) }), first, NOW)).revoked;
  assert.deepEqual(await by(c), [a.id]);
  assert.deepEqual(await by(b), []);
});

test("a head is refused that expired, expires too late, is another channel's, or revokes what it may not", async () => {
  const found = { root: await pinned(await root(1, [a, b], [a, b], { headsExpireDays: 30 })), revoked: [] };
  const head = { channel: CHANNEL, expires: "2026-12-20T00:00:00Z", revoked: [] as string[] };
  checkHead(found, head, NOW);
  assert.throws(() => checkHead(found, { ...head, expires: "2026-11-01T00:00:00Z" }, NOW), /expired/);
  assert.throws(() => checkHead(found, { ...head, expires: "" }, NOW), /does not say when it expires/);
  assert.throws(() => checkHead(found, { ...head, expires: "2027-11-01T00:00:00Z" }, NOW), /later than the root lets it/);
  assert.throws(() => checkHead(found, { ...head, channel: "2".repeat(32) }, NOW), /another channel's/);
  assert.throws(() => checkHead(found, { ...head, revoked: [a.id] }, NOW), /which only those whom the root names may do/);
});

test("the first pattern that fits a name says who signs a package", async () => {
  const packages = [{ name: "team-a", keyids: [c.id], threshold: 1, terminating: true, paths: ["team-a-*", "?ne"] }];
  const found = { root: await pinned(await root(1, [a, b, c], [a, b], { packages })), revoked: [] };
  assert.deepEqual(packageTrust(found, "team-a-bert").keys.map(({ id }) => id), [c.id]);
  assert.deepEqual(packageTrust(found, "one").threshold, 1);
  assert.equal(packageTrust(found, "team-b-bert").isOptional, true);
});

for (const [name, algorithm] of [
  ["ECDSA", { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }],
  ["RSA-PSS", { name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }],
] as const) {
  test(`signatures of ${name} are checked as openssl writes them`, async () => {
    const { createSign, createPublicKey, KeyObject, constants } = await import("node:crypto");
    const pair = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
    const pem = createPublicKey(KeyObject.from(pair.publicKey).export({ format: "pem", type: "spki" })).export({ format: "pem", type: "spki" });
    const key = await publicKey(String(pem));
    const data = new TextEncoder().encode("bytes");
    const padding = name === "RSA-PSS" ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 20 } : {};
    const signature = new Uint8Array(createSign("sha256").update(data).sign({ key: KeyObject.from(pair.privateKey).export({ format: "pem", type: "pkcs8" }) as string, ...padding }));
    assert.equal(await key.hasSigned(data, signature), true);
    assert.equal(await key.hasSigned(new TextEncoder().encode("other"), signature), false);
  });
}
