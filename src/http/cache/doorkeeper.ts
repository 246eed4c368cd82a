/** Admits to a cache what is asked for again, at a cost of four bytes for each text it remembers (TinyLFU's doorkeeper). */
interface Doorkeeper {
  /** Whether the text came before, not long ago; remembers it. Approximate: two texts with one hash are taken for the same, very rarely. */
  admits(text: string): boolean;
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
export const createDoorkeeper = (places: number): Doorkeeper => {
  const hashes = new Int32Array(places);
  return {
    admits: (text) => {
      const hash = hashOf(text);
      const place = hash & (places - 1);
      const known = hashes[place] === hash;
      hashes[place] = hash;
      return known;
    },
  };
};
