/**
 * Hex that looks like a hash and is always the same for the same text. The ids and signatures of the suite's chain only have to be
 * distinct, not secure.
 */
export const fakeHash = (text: string, digits: number): string => {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    high = Math.imul(high ^ text.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(i), 0x5bd1e995) ^ (low >>> 13);
  }
  let hex = "";
  while (hex.length < digits) {
    high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d) + low;
    low = Math.imul(low ^ (low >>> 12), 0x297a2d39) ^ high;
    hex += (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
  }
  return hex.slice(0, digits);
};

/** Looks like a DER-encoded secp256k1 signature. */
export const fakeSignature = (text: string): string => `3044022${fakeHash(text, 133)}`;
