import type { BlockData } from "../../types/events.js";
import { PorticoError } from "../errors.js";
import type { BlockMark } from "../../types/followed-node.js";

/** A line of `/changes`. */
export interface ChangeLine {
  kind: "applied" | "reverted";
  block: BlockData;
  cursor: string;
  /** Digest of the state after the block, if the node has one. */
  digest?: string;
  /** When the node applied or reverted the block: milliseconds since 1970. */
  timestamp?: number;
  /** How often it had applied it before. */
  times?: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** @throws PorticoError BLOCK_INVALID */
export const parseChange = (line: string): ChangeLine => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const isChange = isObject(value) && (value["kind"] === "applied" || value["kind"] === "reverted") && isObject(value["block"]) && Number.isInteger(value["block"]["height"]) && typeof value["block"]["id"] === "string";
  if (!isChange) throw new PorticoError("BLOCK_INVALID", `the node sent ${JSON.stringify(line.slice(0, 100))} for a change`);
  return value as ChangeLine;
};

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

/** Brings the node's changes by another way than its own stream, such as a message broker. What it does not bring is asked of the node. */
export interface TipSource {
  /** `take` is given lines of `/changes`, with times, one after the other. Returns at once; what goes wrong is its own affair. */
  start(nethash: string, take: (line: string) => Promise<void>): { stop(): Promise<void> };
}
