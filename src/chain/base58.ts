import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Base58 as Bitcoin has it: each zero byte at the start is a "1". */
export const toBase58 = (bytes: Uint8Array): string => {
  let text = "";
  for (let rest = bytes.length === 0 ? 0n : BigInt(`0x${bytesToHex(bytes)}`); rest > 0n; rest /= 58n)
    text = alphabet.charAt(Number(rest % 58n)) + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
};

/** @throws RangeError if a character is not one of base58 */
export const fromBase58 = (text: string): Uint8Array => {
  let value = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit < 0) throw new RangeError(`"${text}" is not base58`);
    value = value * 58n + BigInt(digit);
  }
  const digits = value === 0n ? "" : value.toString(16);
  const zeros = text.length - text.replace(/^1+/, "").length;
  return concatBytes(new Uint8Array(zeros), hexToBytes(digits.length % 2 === 0 ? digits : `0${digits}`));
};

/** Characters: an address has 34. What takes long to read is none. */
const longest = 64;

const checksumOf = (payload: Uint8Array): Uint8Array => sha256(sha256(payload)).subarray(0, 4);

/** Base58 of a payload and the first four bytes of its double SHA-256. */
export const toBase58Check = (payload: Uint8Array): string => toBase58(concatBytes(payload, checksumOf(payload)));

/** @throws RangeError if it is not base58, or the checksum is wrong */
export const fromBase58Check = (text: string): Uint8Array => {
  if (text.length > longest) throw new RangeError("the text is too long for base58 with a checksum");
  const bytes = fromBase58(text);
  const payload = bytes.slice(0, -4);
  if (bytes.length < 4 || toBase58Check(payload) !== text) throw new RangeError(`the checksum of "${text}" is wrong`);
  return payload;
};
