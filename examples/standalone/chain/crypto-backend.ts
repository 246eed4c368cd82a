import { createHash } from "node:crypto";
import Module, { createRequire } from "node:module";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { pointAdd, pointFromScalar, pointMultiply, privateAdd, privateNegate, sign, verify } from "tiny-secp256k1";

/**
 * `@arkecosystem/crypto` signs with `bcrypto`, whose native code has to be compiled. If it was not, `bcrypto` must be told to use plain
 * JavaScript, and `tiny-secp256k1` (WebAssembly) makes keys and signatures in its place: the same bytes, two to many times faster. Import this
 * before that package.
 */
export interface Ecdsa {
  /** @throws Error if it is no private key */
  publicKeyCreate(privateKey: Buffer, isCompressed?: boolean): Buffer;
  /** A signature as r and s of 32 bytes each, whose nonce is that of RFC 6979 and whose s is low. */
  sign(hash: Buffer, privateKey: Buffer): Buffer;
  verify(hash: Buffer, signature: Buffer, publicKey: Buffer): boolean;
  /** A signature as the chain's first scheme of Schnorr's has it, which came before BIP 340: x of a point and a number, of 32 bytes each. */
  schnorrSign(hash: Buffer, privateKey: Buffer): Buffer;
  schnorrVerify(hash: Buffer, signature: Buffer, publicKey: Buffer): boolean;
}

const { Fn, Fp } = secp256k1.Point;

/** SHA-256 of all of them, as a number below the curve's order. */
const hashToNumber = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return Fn.toBytes(Fn.create(BigInt(`0x${hash.digest("hex")}`)));
};

/** The public key of a number. @throws Error for zero, and for what is not below the curve's order */
const publicPoint = (scalar: Uint8Array, isCompressed: boolean): Uint8Array => {
  const point = pointFromScalar(scalar, isCompressed);
  if (point === null) throw new Error("Invalid private key.");
  return point;
};

/** Of an uncompressed point: its x, and whether its y has a square root, by which the scheme chooses one of the two points of an x. */
const xOf = (point: Uint8Array): Uint8Array => point.subarray(1, 33);
const hasSquareY = (point: Uint8Array): boolean => {
  try {
    Fp.sqrt(Fp.fromBytes(point.subarray(33)));
    return true;
  } catch {
    return false;
  }
};

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** `s` times the generator, less `e` times the public key: the point that was signed with. Null for the point at infinity. */
const signedPoint = (s: Uint8Array, e: Uint8Array, publicKey: Uint8Array): Uint8Array | null => {
  const ofKey = isZero(e) ? null : pointMultiply(publicKey, privateNegate(e), false);
  const ofGenerator = isZero(s) ? null : pointFromScalar(s, false);
  return ofKey === null || ofGenerator === null ? (ofKey ?? ofGenerator) : pointAdd(ofGenerator, ofKey, false);
};

export const fastEcdsa: Ecdsa = {
  publicKeyCreate: (privateKey, isCompressed = true) => Buffer.from(publicPoint(privateKey, isCompressed)),
  sign: (hash, privateKey) => Buffer.from(sign(hash, privateKey)),
  verify: (hash, signature, publicKey) => {
    try {
      return verify(hash, publicKey, signature);
    } catch {
      return false; // It is no signature, or no public key.
    }
  },
  schnorrSign: (hash, privateKey) => {
    const publicKey = publicPoint(privateKey, true);
    const nonce = hashToNumber(privateKey, hash);
    const point = publicPoint(nonce, false);
    const k = hasSquareY(point) ? nonce : privateNegate(nonce);
    const e = hashToNumber(xOf(point), publicKey, hash);
    const product = Fn.toBytes(Fn.mul(Fn.fromBytes(e), Fn.fromBytes(privateKey)));
    return Buffer.concat([xOf(point), privateAdd(k, product) ?? Buffer.alloc(32)]);
  },
  schnorrVerify: (hash, signature, publicKey) => {
    try {
      if (signature.length !== 64) return false;
      const [x, s] = [signature.subarray(0, 32), signature.subarray(32)];
      const point = signedPoint(s, hashToNumber(x, publicKey, hash), publicKey);
      return point !== null && x.equals(xOf(point)) && hasSquareY(point);
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

/** All that `@arkecosystem/crypto` uses of `bcrypto`, whose entry point loads a hundred modules. */
const used = { secp256k1: "secp256k1", Hash160: "hash160", Hash256: "hash256", RIPEMD160: "ripemd160", SHA1: "sha1", SHA256: "sha256" };
const entryPoint = require.resolve("bcrypto");
const exports = Object.fromEntries(Object.entries(used).map(([name, file]) => [name, require(`bcrypto/lib/${file}`) as unknown]));
require.cache[entryPoint] ??= Object.assign(new Module(entryPoint), { loaded: true, exports });
