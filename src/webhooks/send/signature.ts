import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { WebhookSecret } from "../../../types/webhooks.js";

const tokenBytes = 32;
/** Half of the token goes out with every delivery; the receiver keeps the other half to compare. */
const sentDigits = 32;

/** 64 hex digits, from the system's source of random bytes. */
export const createToken = (): string => randomBytes(tokenBytes).toString("hex");

/** Both forms in which a secret is shown. */
export const secretOf = (token: string): WebhookSecret => ({ token, secret: `whsec_${Buffer.from(token, "hex").toString("base64")}` });

/** Tokens as keys, for those that sign again and again. */
const keys = new LRUCache<string, KeyObject>({ max: 10_000 });

const signingKey = (token: string): KeyObject => {
  const known = keys.get(token);
  if (known !== undefined) return known;
  const key = createSecretKey(Buffer.from(token, "hex"));
  keys.set(token, key);
  return key;
};

const sign = (token: string, content: string): string => `v1,${createHmac("sha256", signingKey(token)).update(content).digest("base64")}`;

export interface Signed {
  messageId: string;
  /** Milliseconds since 1970; a receiver refuses what is older than five minutes, so each attempt has its own. */
  at: number;
  body: string;
}

/** The node's key, by which receivers may verify requests without sharing a secret. */
export interface NodeKey {
  /** 32 bytes. */
  publicKey: Buffer;
  sign(content: Buffer): Buffer;
}

/** As Standard Webhooks libraries take public keys. */
export const publicKeyText = ({ publicKey }: NodeKey): string => `whpk_${publicKey.toString("base64")}`;

/**
 * Headers of one attempt: half of the token, as the predecessor sent it, and Standard Webhooks 1.0, signed with each of the tokens or, if it
 * is given, by the node's key instead.
 */
export const deliveryHeaders = (tokens: readonly [string, ...string[]], { messageId, at, body }: Signed, nodeKey?: NodeKey): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1000));
  const content = `${messageId}.${timestamp}.${body}`;
  return {
    authorization: tokens[0].slice(0, sentDigits),
    "content-type": "application/json",
    "user-agent": "Portico",
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": nodeKey === undefined ? tokens.map((token) => sign(token, content)).join(" ") : `v1a,${nodeKey.sign(Buffer.from(content)).toString("base64")}`,
  };
};
