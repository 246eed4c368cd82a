/** Verifies requests as Standard Webhooks 1.0 signs them, with Web Crypto alone. */

const encoder = new TextEncoder();

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> => {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
};

const bytesOfHex = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: text.length / 2 }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16));

/** `whsec_…`, or the 64 hexadecimal digits of a webhook's token. */
const bytesOfSecret = (secret: string): Uint8Array<ArrayBuffer> => {
  if (/^[0-9a-f]{64}$/.test(secret)) return bytesOfHex(secret);
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) throw new TypeError("A secret is whsec_… or a token of 64 hexadecimal digits");
  return bytesOfBase64(secret.slice("whsec_".length));
};

/** `whpk_…`, as `GET /webhooks/keys` shows it. */
const bytesOfKey = (key: string): Uint8Array<ArrayBuffer> => {
  if (!/^whpk_[A-Za-z0-9+/]{43}=$/.test(key)) throw new TypeError("A node's key is whpk_… with 32 bytes in base64");
  return bytesOfBase64(key.slice("whpk_".length));
};

interface Verifier {
  version: "v1" | "v1a";
  algorithm: "HMAC" | "Ed25519";
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

/** @throws TypeError at once if it is no secret */
export const verifierOfSecret = (secret: string): Promise<Verifier> =>
  crypto.subtle
    .importKey("raw", bytesOfSecret(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
    .then((key) => ({ version: "v1", algorithm: "HMAC", key }));

/** @throws TypeError at once if it is no key */
export const verifierOfKey = (publicKey: string): Promise<Verifier> =>
  crypto.subtle.importKey("raw", bytesOfKey(publicKey), "Ed25519", false, ["verify"]).then((key) => ({ version: "v1a", algorithm: "Ed25519", key }));

/** What a request was signed as. */
export interface Signed {
  id: string;
  timestamp: string;
  /** One or several, separated by spaces. */
  signature: string;
  body: Uint8Array;
}

const bytesSigned = ({ id, timestamp, body }: Signed): Uint8Array<ArrayBuffer> => {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
};

const decoded = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return bytesOfBase64(text);
  } catch {
    return undefined;
  }
};

/** A request has one signature for each secret that is valid at the node. Nobody sends many more. */
const mostSignatures = 16;

/** Whether one of the signatures is right by one of the verifiers. Web Crypto compares in constant time. */
export const isSignedBy = async (verifiers: readonly Verifier[], signed: Signed): Promise<boolean> => {
  const content = bytesSigned(signed);
  for (const each of signed.signature.split(" ").slice(0, mostSignatures)) {
    const [version, text = ""] = each.split(",");
    const signature = decoded(text);
    if (signature === undefined) continue;
    for (const { version: own, algorithm, key } of verifiers) {
      if (own === version && (await crypto.subtle.verify(algorithm, key, signature, content))) return true;
    }
  }
  return false;
};
