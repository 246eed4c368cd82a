import type { Sliced } from "../../async/time-slicing.js";
import { type DatabaseName, databases } from "./keys.js";

/**
 * Keys of the store and their values, as bytes. An entry is the index of its database (1 byte; 255: the entry was dropped), the length
 * of the key (2), the length of the value plus one (4; 0: the key has no value), the key, and the value. A block's undo record is such
 * a log, and so is what the thread that commits is given (commit-thread.js reads the format too).
 */
export interface WriteLog {
  /** Returns where the entry begins. */
  add(database: DatabaseName, key: Buffer, value: Buffer | null): number;
  /** A copy of the value of the entry that begins there. */
  valueAt(begin: number): Buffer | null;
  /** Drops the entry that begins there. */
  drop(begin: number): void;
  /** The entries so far. Not a copy: they stay as they are until the next `drop` or `clear`. */
  bytes(): LogBytes;
  /** Empties the log, but keeps its memory: a process that writes into fresh memory waits for each of its pages. */
  clear(): void;
}

/** Shared, so that the thread that commits can read a log without a copy being made for it here. */
export type LogBytes = Buffer<SharedArrayBuffer>;

export interface LogEntry {
  database: DatabaseName;
  key: Buffer;
  value: Buffer | null;
}

const names = Object.keys(databases) as DatabaseName[];
const placeOf = Object.fromEntries(names.map((name, place) => [name, place])) as Record<DatabaseName, number>;

const headLength = 7;
const dropped = 255;
const firstSize = 16 * 1024;
/** Bytes that an emptied log keeps in any case. A block of 150 transactions takes half a megabyte. */
const alwaysKept = 4 * 1024 * 1024;

/** Offsets of an entry's parts. */
const partsOf = (log: Buffer, begin: number): { key: number; value: number; end: number; isNothing: boolean } => {
  const key = begin + headLength;
  const value = key + log.readUInt16BE(begin + 1);
  const length = log.readUInt32BE(begin + 3);
  return { key, value, end: value + Math.max(0, length - 1), isNothing: length === 0 };
};

const memoryOf = (size: number): LogBytes => Buffer.from(new SharedArrayBuffer(size));

/** What a log without entries has. */
export const noEntries: LogBytes = memoryOf(0);

export const createWriteLog = (): WriteLog => {
  let log = memoryOf(firstSize);
  let length = 0;
  const room = (size: number): void => {
    if (length + size <= log.length) return;
    const longer = memoryOf(Math.max(log.length * 2, length + size));
    log.copy(longer, 0, 0, length);
    log = longer;
  };
  return {
    add: (database, key, value) => {
      const begin = length;
      const size = headLength + key.length + (value?.length ?? 0);
      room(size);
      log[begin] = placeOf[database];
      log.writeUInt16BE(key.length, begin + 1);
      log.writeUInt32BE(value === null ? 0 : value.length + 1, begin + 3);
      log.set(key, begin + headLength);
      if (value !== null) log.set(value, begin + headLength + key.length);
      length += size;
      return begin;
    },
    valueAt: (begin) => {
      const { value, end, isNothing } = partsOf(log, begin);
      return isNothing ? null : Buffer.from(log.subarray(value, end));
    },
    drop: (begin) => void log.writeUInt8(dropped, begin),
    bytes: () => log.subarray(0, length),
    clear: () => {
      // What many blocks together have taken is kept for as long as as many follow.
      if (log.length > alwaysKept && length < log.length / 4) log = memoryOf(firstSize);
      length = 0;
    },
  };
};

/** The entries of a log that were not dropped, in the order in which they were added. */
export const entriesOf = (log: Buffer): LogEntry[] => {
  const entries: LogEntry[] = [];
  for (let begin = 0; begin < log.length; ) {
    const { key, value, end, isNothing } = partsOf(log, begin);
    const database = names[log.readUInt8(begin)];
    if (database !== undefined) {
      entries.push({ database, key: Buffer.from(log.subarray(key, value)), value: isNothing ? null : Buffer.from(log.subarray(value, end)) });
    } else if (log[begin] !== dropped) throw new Error(`a log of entries names an unknown database ${String(log[begin])}`);
    begin = end;
  }
  return entries;
};

/** Entries that are passed over in one step. */
const together = 500;

/** The keys that a log has of some databases. Values, which are most of a log, are skipped. */
export function* keysIn<Name extends DatabaseName>(log: Buffer, wanted: readonly Name[]): Sliced<Record<Name, Buffer[]>> {
  const found = Object.fromEntries(wanted.map((name): [Name, Buffer[]] => [name, []])) as Record<Name, Buffer[]>;
  const lists = new Map<number, Buffer[]>(wanted.map((name) => [placeOf[name], found[name]]));
  for (let begin = 0, passed = 1; begin < log.length; passed++) {
    const { key, value, end } = partsOf(log, begin);
    lists.get(log.readUInt8(begin))?.push(log.subarray(key, value));
    begin = end;
    if (passed % together === 0) yield;
  }
  return found;
}
