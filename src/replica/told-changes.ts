import type { BlockMark } from "../../types/followed-node.js";
import type { BlockData } from "../../types/events.js";
import type { ChangeLine } from "./change-line.js";

/** What was told of the node's last changes, besides their blocks. */
export interface ToldChanges {
  put(line: ChangeLine): void;
  /** The same for a line that has come by another way than from the node: anybody may have written it, and its digest does not count. */
  putBrought(line: ChangeLine): void;
  /** A block as it was brought so, without its transactions, if that was its last application; once. */
  takeBrought(block: BlockMark): BlockData | undefined;
  /** Digest of the node's state after a block. */
  digestOf(block: BlockMark): string | undefined;
  timesOf(kind: ChangeLine["kind"], id: string): { at: number; times: number } | undefined;
  /** Calls `changed` with each new one. */
  watch(changed: () => void): () => void;
}

/** Changes that are kept: more than are on their way. */
const kept = 5_000;

interface Told extends Partial<Pick<ChangeLine, "digest" | "timestamp" | "times">> {
  brought?: BlockData | undefined;
}

export const createToldChanges = (): ToldChanges => {
  const known = new Map<string, Told>();
  const watchers = new Set<() => void>();
  const keyOf = (kind: string, id: string): string => `${kind} ${id}`;
  const set = ({ kind, block: { id } }: ChangeLine, told: Told): void => {
    const key = keyOf(kind, id);
    // Last in order: it is the newest.
    known.delete(key);
    known.set(key, told);
    const [oldest] = known.keys();
    if (known.size > kept && oldest !== undefined) known.delete(oldest);
    for (const changed of watchers) changed();
  };
  const before = ({ kind, block: { id } }: ChangeLine): Told | undefined => known.get(keyOf(kind, id));
  const timesIn = ({ timestamp, times }: ChangeLine): Told => ({ ...(timestamp === undefined ? {} : { timestamp }), ...(times === undefined ? {} : { times }) });
  return {
    put: (line) => set(line, { ...timesIn(line), ...(line.digest === undefined ? {} : { digest: line.digest }), brought: before(line)?.brought }),
    putBrought: (line) => set(line, { ...before(line), ...timesIn(line), brought: { ...line.block, transactions: [] } }),
    takeBrought: ({ id }) => {
      const told = known.get(keyOf("applied", id));
      const block = told?.brought;
      if (told !== undefined) told.brought = undefined;
      return block;
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
