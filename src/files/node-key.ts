import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataDir } from "./make-folder.js";

/** The node's ed25519 key. It belongs to the node, not to its store: it stays when the store is made anew. */
export interface NodeKey {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** 64 bytes. */
  sign(message: Uint8Array): Buffer;
}

/** Name of the file, below the data folder. */
const nodeKeyFile = "node-key";

const ownerOnly = 0o600;

const read = (path: string): KeyObject | undefined => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) chmodSync(path, ownerOnly);
  return createPrivateKey(readFileSync(path));
};

/** The file appears as a whole, with its mode. Of two processes that try, one makes it. */
const make = (path: string): void => {
  const draft = `${path}.${randomUUID()}`;
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  try {
    writeFileSync(draft, pem, { flag: "wx", mode: ownerOnly, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

const rawPublicKey = (key: KeyObject): Buffer => Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");

/** Reads the key that is kept in the data folder, and makes it if there is none. @throws Error if the file cannot be read or is no key */
export const openNodeKey = (dataDir: string): NodeKey => {
  const path = join(dataDir, nodeKeyFile);
  let key = read(path);
  if (key === undefined) {
    makeDataDir(dataDir);
    make(path);
    key = read(path);
  }
  if (key === undefined || key.asymmetricKeyType !== "ed25519") throw new Error(`${path} is not an ed25519 key`);
  const privateKey = key;
  return { publicKey: rawPublicKey(privateKey), sign: (message) => sign(null, message, privateKey) };
};
