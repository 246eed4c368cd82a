import { secp256k1 } from "@noble/curves/secp256k1.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import type { MultiSignature } from "../../types/chain.js";
import { fromBase58Check, toBase58Check } from "./base58.js";

/** Whether a text is a compressed public key in lower-case hex. */
export const isPublicKey = (text: string): boolean => /^0[23][0-9a-f]{64}$/.test(text);

/** Address of a compressed public key (hex): base58check(version byte + RIPEMD-160(public key)). */
export const addressOf = (publicKey: string, pubKeyHash: number): string => {
  const payload = new Uint8Array(21);
  payload[0] = pubKeyHash;
  payload.set(ripemd160(hexToBytes(publicKey)), 1);
  return toBase58Check(payload);
};

/** What an address stands for: its version byte and the hash of its key, 21 bytes. @throws RangeError if it is no address */
export const addressBytes = (address: string): Uint8Array => {
  const payload = address.length > 35 ? undefined : fromBase58Check(address);
  if (payload?.length !== 21) throw new RangeError(`"${address}" is not an address`);
  return payload;
};

/** Whether a text is an address of the network, with the right length, version byte and checksum. */
export const isAddress = (text: string, pubKeyHash: number): boolean => {
  try {
    return addressBytes(text)[0] === pubKeyHash;
  } catch {
    return false;
  }
};

/** `addressOf` with a memory of recent results, since the same senders and generators recur from block to block. */
export const createAddressOf = (pubKeyHash: number, remembered = 10_000): ((publicKey: string) => string) => {
  const known = new Map<string, string>();
  return (publicKey) => {
    let address = known.get(publicKey);
    if (address === undefined) {
      if (known.size >= remembered) known.clear();
      address = addressOf(publicKey, pubKeyHash);
      known.set(publicKey, address);
    }
    return address;
  };
};

/**
 * Public key (hex) of a multisignature wallet: the sum of the participants' public keys, as curve points, and of the public key
 * whose private key is the SHA-256 of `min` written as two hexadecimal digits.
 */
export const multiSignaturePublicKey = ({ min, publicKeys }: MultiSignature): string => {
  const minKey = secp256k1.getPublicKey(sha256(new TextEncoder().encode(min.toString(16).padStart(2, "0"))));
  return publicKeys
    .reduce((sum, key) => sum.add(secp256k1.Point.fromHex(key)), secp256k1.Point.fromBytes(minKey))
    .toHex(true);
};
