import type { BlockMark } from "../../types/followed-node.js";
import type { ChangeLine } from "./change-line.js";

/** What the node has told of its last changes, besides their blocks. */
export interface ToldChanges {
  put(line: ChangeLine): void;
  /** Digest of the node's state after a block. */
  digestOf(block: BlockMark): string | undefined;
  timesOf(kind: ChangeLine["kind"], id: string): { at: number; times: number } | undefined;
  /** Calls `changed` with each new one. */
  watch(changed: () => void): () => void;
}

/** Changes that are kept: more than are on their way. */
const kept = 5_000;

export const createToldChanges = (): ToldChanges => {
  const known = new Map<string, Pick<ChangeLine, "digest" | "timestamp" | "times">>();
  const watchers = new Set<() => void>();
  const keyOf = (kind: string, id: string): string => `${kind} ${id}`;
  return {
    put: ({ kind, block, digest, timestamp, times }) => {
      const key = keyOf(kind, block.id);
      // Last in order: it is the newest.
      known.delete(key);
      known.set(key, { ...(digest === undefined ? {} : { digest }), ...(timestamp === undefined ? {} : { timestamp }), ...(times === undefined ? {} : { times }) });
      const [oldest] = known.keys();
      if (known.size > kept && oldest !== undefined) known.delete(oldest);
      for (const changed of watchers) changed();
    },
    digestOf: ({ id }) => known.get(keyOf("applied", id))?.digest,
    timesOf: (kind, id) => {
      const { timestamp, times } = known.get(keyOf(kind, id)) ?? {};
      return timestamp === undefined || times === undefined ? undefined : { at: timestamp, times };
    },
    watch: (changed) => {
      const own = (): void => changed();
      watchers.add(own);
      return () => void watchers.delete(own);
    },
  };
};
