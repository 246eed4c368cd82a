import { createRequire } from "node:module";
import { pointFromScalar, sign, verify } from "tiny-secp256k1";

/**
 * `@arkecosystem/crypto` signs with `bcrypto`, whose native code has to be compiled. If it was not, `bcrypto` must be told to use plain
 * JavaScript, and `tiny-secp256k1` (WebAssembly) makes keys and signatures in its place: the same bytes, many times faster. Import this
 * before that package.
 */
export interface Ecdsa {
  /** @throws Error if it is no private key */
  publicKeyCreate(privateKey: Buffer, isCompressed?: boolean): Buffer;
  /** A signature as r and s of 32 bytes each, whose nonce is that of RFC 6979 and whose s is low. */
  sign(hash: Buffer, privateKey: Buffer): Buffer;
  verify(hash: Buffer, signature: Buffer, publicKey: Buffer): boolean;
}

export const fastEcdsa: Ecdsa = {
  publicKeyCreate: (privateKey, isCompressed = true) => {
    const publicKey = pointFromScalar(privateKey, isCompressed);
    if (publicKey === null) throw new Error("Invalid private key.");
    return Buffer.from(publicKey);
  },
  sign: (hash, privateKey) => Buffer.from(sign(hash, privateKey)),
  verify: (hash, signature, publicKey) => {
    try {
      return verify(hash, publicKey, signature);
    } catch {
      return false; // It is no signature, or no public key.
    }
  },
};

const require = createRequire(import.meta.url);

try {
  require("bcrypto/lib/native/binding");
} catch {
  process.env.NODE_BACKEND ??= "js";
  process.env.BCRYPTO_FORCE_BIGINT ??= "1"; // the faster of its two implementations of big numbers
  Object.assign(require("bcrypto/lib/secp256k1") as Ecdsa, fastEcdsa);
}
