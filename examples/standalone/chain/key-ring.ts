import type { Cast } from "./cast.js";
import type { KeyRing } from "./block-maker.js";
import type { ChainCrypto, Keys } from "./crypto.js";
import { HostError } from "../program/host-error.js";
import { readJson } from "../files/json-file.js";

/** On `local`, every delegate is one of the cast, found by its username. */
export const castKeyRing =
  (cast: Cast): KeyRing =>
  ({ publicKey, username }) => {
    const keys = cast.ofUsername(username)?.keys;
    return keys?.publicKey === publicKey ? keys : undefined;
  };

/** The keys in a file that has the form of a node's `delegates.json`. @throws HostError */
export const readSecrets = (path: string, crypto: ChainCrypto): Keys[] => {
  const content = readJson(path, { isSecret: true });
  const secrets: unknown = typeof content === "object" && content !== null && "secrets" in content ? content.secrets : undefined;
  const isList = Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string" && secret !== "");
  if (!isList) throw new HostError(`${path} must have a member "secrets", a list of passphrases.`);
  if (secrets.length === 0) throw new HostError(`${path} contains no secrets; this host cannot use a bip38 key.`);
  return (secrets as string[]).map((secret) => crypto.keysOf(secret));
};

export const secretsKeyRing = (all: Keys[]): KeyRing => {
  const known = new Map(all.map((keys) => [keys.publicKey, keys]));
  return ({ publicKey }) => known.get(publicKey);
};
