import { createPublicKey, hash, verify } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import canonicalize from "canonicalize";
import { messageOf, PorticoError } from "../errors.js";

// What a lake's folder has, signed by the node that writes it.

const Height = Type.Integer({ minimum: 1 });
const Sha256 = Type.RegExp(/^[0-9a-f]{64}$/);
const Bytes = Type.Integer({ minimum: 1 });

const BlockFileSchema = Type.Object({
  from: Height,
  to: Height,
  /** Below the lake's folder. */
  file: Type.RegExp(/^blocks\/[0-9]{9,15}-[0-9]{9,15}\.ndjson\.gz$/),
  bytes: Bytes,
  sha256: Sha256,
  /** Id of the block at `to`. */
  last: Type.String({ minLength: 1 }),
});

const SnapshotFileSchema = Type.Object({
  height: Height,
  id: Type.String({ minLength: 1 }),
  file: Type.RegExp(/^snapshots\/[0-9]{1,15}-[0-9A-Za-z]{1,128}\.mdb\.gz$/),
  bytes: Bytes,
  sha256: Sha256,
  /** Layout of the store. */
  layout: Type.Integer(),
  digest: Sha256,
});

const ManifestSchema = Type.Object({
  network: Type.Object({ nethash: Type.String() }),
  final: Type.Object({ height: Height, id: Type.String() }),
  blocks: Type.Array(BlockFileSchema),
  snapshots: Type.Array(SnapshotFileSchema),
  /** SHA-256 of the bytes of the manifest before. */
  previous: Type.Union([Sha256, Type.Null()]),
  /** The node's ed25519 public key, 32 bytes in base64. */
  key: Type.RegExp(/^[A-Za-z0-9+/]{43}=$/),
  signature: Type.RegExp(/^[A-Za-z0-9+/]{86}==$/),
});

export type BlockFile = Static<typeof BlockFileSchema>;
export type SnapshotFile = Static<typeof SnapshotFileSchema>;
export type Manifest = Static<typeof ManifestSchema>;
type Unsigned = Omit<Manifest, "signature">;

export const manifestFile = "manifest.json";
export const olderManifest = (sha256: string): string => `manifests/${sha256}.json`;

const numberLength = 9;
const numbered = (height: number): string => String(height).padStart(numberLength, "0");
export const blockFileName = (from: number, to: number): string => `blocks/${numbered(from)}-${numbered(to)}.ndjson.gz`;

export const snapshotFileName = (height: number, id: string): string => `snapshots/${height}-${id}.mdb.gz`;

export const sha256Of = (bytes: Uint8Array): string => hash("sha256", bytes, "hex");

/** Its types speak of an ES module, but it is a CommonJS one, whose exports are the function. */
const canonical = canonicalize as unknown as (value: unknown) => string | undefined;

/** What is signed: the form of RFC 8785. */
const signedBytes = (manifest: Unsigned): Buffer => Buffer.from(canonical(manifest) ?? "", "utf8");

export const signManifest = (manifest: Unsigned, sign: (message: Uint8Array) => Buffer): Manifest => ({
  ...manifest,
  signature: sign(signedBytes(manifest)).toString("base64"),
});

export const manifestBytes = (manifest: Manifest): Buffer => Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`, "utf8");

const isSigned = ({ signature, ...unsigned }: Manifest): boolean => {
  const x = Buffer.from(unsigned.key, "base64").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, signedBytes(unsigned), key, Buffer.from(signature, "base64"));
};

export const damaged = (message: string): PorticoError => new PorticoError("LAKE_DAMAGED", message);

/** The files hold the blocks from 1 on without gaps, each as many. */
const fileFault = ({ blocks }: Manifest): string | undefined => {
  const size = blocks[0]?.to ?? 0;
  const wrong = blocks.find(({ from, to, file }, i) => from !== i * size + 1 || to !== (i + 1) * size || file !== blockFileName(from, to));
  return wrong && `the list of its files is broken at ${wrong.file}`;
};

const form = TypeCompiler.Compile(ManifestSchema);

/**
 * Parses a manifest and checks its form. Its signature is not looked at: for one whose hash a signed manifest names. `where` names it in
 * errors. @throws PorticoError LAKE_DAMAGED
 */
export const parseOlderManifest = (bytes: Uint8Array, where: string): Manifest => {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw damaged(`${where}: it is not JSON (${messageOf(error)})`);
  }
  if (!form.Check(value)) {
    const first = form.Errors(value).First();
    throw damaged(`${where}: it is not the manifest of a lake: ${first?.path ?? ""} ${first?.message ?? ""}`);
  }
  const fault = fileFault(value);
  if (fault !== undefined) throw damaged(`${where}: ${fault}`);
  return value;
};

/** Parses a manifest and checks its form and its signature. @throws PorticoError LAKE_DAMAGED */
export const parseManifest = (bytes: Uint8Array, where: string): Manifest => {
  const manifest = parseOlderManifest(bytes, where);
  if (!isSigned(manifest)) throw damaged(`${where}: its signature is not that of its key`);
  return manifest;
};

/** Parses manifests of one lake: what is given again, as it mostly is, is not parsed again. That of a long chain has a megabyte. */
export const createManifestParser = (): typeof parseManifest => {
  let last: { bytes: Uint8Array; manifest: Manifest } | undefined;
  return (bytes, where) => {
    if (last === undefined || Buffer.compare(last.bytes, bytes) !== 0) last = { bytes, manifest: parseManifest(bytes, where) };
    return last.manifest;
  };
};
