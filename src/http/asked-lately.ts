/** Tells what is asked for again from what is asked for once, in four bytes a text. */
export interface AskedLately {
  /** Whether a text was noted lately; notes it. A guess: very rarely one text is taken for another. */
  before(text: string): boolean;
}

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // the low bits choose the place, and have to follow from all characters alike
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
};

/** A table of hashes, in which a text takes the place of whatever else falls there. `places`: a power of two. */
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
