import type { BlockData } from "../../types/events.js";
import { PorticoError } from "../errors.js";
import { isObject } from "./node-client.js";
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

/** @throws PorticoError BLOCK_INVALID */
export const parseChange = (line: string): ChangeLine => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const isChange =
    isObject(value) &&
    (value["kind"] === "applied" || value["kind"] === "reverted") &&
    isObject(value["block"]) &&
    Number.isInteger(value["block"]["height"]) &&
    typeof value["block"]["id"] === "string";
  if (!isChange) throw new PorticoError("BLOCK_INVALID", `the node sent ${JSON.stringify(line.slice(0, 100))} instead of a change`);
  return value as ChangeLine;
};

/** Digests and times of the node's last changes. */
export interface ChangeNotes {
  put(line: ChangeLine): void;
  /** The same for a line of a tip source: anybody may have written it, and its digest does not count. */
  putFromTip(line: ChangeLine): void;
  /** A block as the tip source gave it, without its transactions, if that was its last application; once. */
  takeFromTip(block: BlockMark): BlockData | undefined;
  /** Digest of the node's state after a block. */
  digestOf(block: BlockMark): string | undefined;
  timesOf(kind: ChangeLine["kind"], id: string): { at: number; times: number } | undefined;
}

/** Notes that are kept: more than changes are on their way. */
const mostNotes = 5_000;

interface ChangeNote extends Partial<Pick<ChangeLine, "digest" | "timestamp" | "times">> {
  tipBlock?: BlockData | undefined;
}

const timesIn = ({ timestamp, times }: ChangeLine): ChangeNote => ({
  ...(timestamp === undefined ? {} : { timestamp }),
  ...(times === undefined ? {} : { times }),
});

/** `changed` is called after each new note. */
export const createChangeNotes = (changed: () => void): ChangeNotes => {
  const notes = new Map<string, ChangeNote>();
  const keyOf = (kind: string, id: string): string => `${kind} ${id}`;
  const noteOf = ({ kind, block: { id } }: ChangeLine): ChangeNote | undefined => notes.get(keyOf(kind, id));
  const set = ({ kind, block: { id } }: ChangeLine, note: ChangeNote): void => {
    const key = keyOf(kind, id);
    // Last in order: it is the newest.
    notes.delete(key);
    notes.set(key, note);
    const [oldest] = notes.keys();
    if (notes.size > mostNotes && oldest !== undefined) notes.delete(oldest);
    changed();
  };
  return {
    put: (line) =>
      set(line, { ...timesIn(line), ...(line.digest === undefined ? {} : { digest: line.digest }), tipBlock: noteOf(line)?.tipBlock }),
    putFromTip: (line) => set(line, { ...noteOf(line), ...timesIn(line), tipBlock: { ...line.block, transactions: [] } }),
    takeFromTip: ({ id }) => {
      const note = notes.get(keyOf("applied", id));
      const block = note?.tipBlock;
      if (note !== undefined) note.tipBlock = undefined;
      return block;
    },
    digestOf: ({ id }) => notes.get(keyOf("applied", id))?.digest,
    timesOf: (kind, id) => {
      const { timestamp, times } = notes.get(keyOf(kind, id)) ?? {};
      return timestamp === undefined || times === undefined ? undefined : { at: timestamp, times };
    },
  };
};

/** Brings the node's changes by another way than its own stream, such as a message broker. What it does not bring is asked of the node. */
export interface TipSource {
  /** `take` is given lines of `/changes`, with times, one after the other. Returns at once; what goes wrong is its own affair. */
  start(nethash: string, take: (line: string) => Promise<void>): { stop(): Promise<void> };
}
