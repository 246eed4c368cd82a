/** Tells repeated texts from new ones, in four bytes each. */
export interface AskedLately {
  /** Whether the text was noted recently; notes it. Approximate: hash collisions can make a new text look repeated, very rarely. */
  before(text: string): boolean;
}

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // mixed, because the low bits choose the place and must depend on all characters equally
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
};

/** A table of hashes in which a text overwrites whatever was in its place. `places` must be a power of two. */
export const createAskedLately = (places: number): AskedLately => {
  const hashes = new Int32Array(places);
  return {
    before: (text) => {
      const hash = hashOf(text);
      const place = hash & (places - 1);
      const known = hashes[place] === hash;
      hashes[place] = hash;
      return known;
    },
  };
};
