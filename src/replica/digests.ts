import type { BlockMark } from "../../types/node-context.js";

/** The digests that the node has told, of its last blocks. */
export interface Digests {
  put(block: BlockMark, digest: string): void;
  of(block: BlockMark): string | undefined;
  watch(changed: () => void): () => void;
}

/** Blocks whose digests are kept: more than are on their way. */
const kept = 2_000;

export const createDigests = (): Digests => {
  const known = new Map<string, string>();
  const watchers = new Set<() => void>();
  return {
    put: ({ height, id }, digest) => {
      known.set(`${height}-${id}`, digest);
      const [oldest] = known.keys();
      if (known.size > kept && oldest !== undefined) known.delete(oldest);
      for (const changed of watchers) changed();
    },
    of: ({ height, id }) => known.get(`${height}-${id}`),
    watch: (changed) => {
      const own = (): void => changed();
      watchers.add(own);
      return () => void watchers.delete(own);
    },
  };
};
