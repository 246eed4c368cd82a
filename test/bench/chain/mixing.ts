/** Numbers that look random and are the same in every run. */

/** Spreads the bits of a 32-bit number, no two to the same result (the finalizer of MurmurHash 3). */
export const mix = (value: number): number => {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

/** From 0 (inclusive) to 1 (exclusive). */
export type Chance = () => number;

/** Mulberry32. */
export const createChance = (seed: number): Chance => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** A whole number below `end`. */
export const below = (chance: Chance, end: number): number => Math.floor(chance() * end);

const scratch = Buffer.alloc(256);

/** Hex of so many bytes (a multiple of 4, at most 256) derived from a kind of thing and its number. */
export const hexOf = (kind: number, number: number, bytes: number): string => {
  for (let at = 0; at < bytes; at += 4) scratch.writeUInt32BE(mix(number ^ mix(kind * 0x1000 + at)), at);
  return scratch.toString("hex", 0, bytes);
};
