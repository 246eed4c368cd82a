import { asBinary } from "lmdb";
import type { Environment, StoreDatabase } from "./environment.js";
import { messageOf } from "../errors.js";
import { canBeKey, type DatabaseName, databases } from "./keys.js";
import type { KeyBounds, WriterReading } from "./reading.js";

/** The bytes that lie under a key; null: nothing does. */
export type Bytes = Buffer | null;

/**
 * What blocks are about to write, over what is written: it reads as if it were written already, and nobody else sees it. Working
 * out a block takes many turns of the process; LMDB gets all of it at once, and writes it in a thread of its own.
 */
export interface Pending extends WriterReading {
  has(database: DatabaseName, key: Buffer): boolean;
  bytes(database: DatabaseName, key: Buffer): Bytes;
  put(database: DatabaseName, key: Buffer, value: unknown): void;
  putBytes(database: DatabaseName, key: Buffer, bytes: Bytes): void;
  /** Resolves when all of it is committed, in one LMDB transaction. Rejects when none of it is. */
  commit(): Promise<void>;
  /** Forgets what is not committed. */
  clear(): void;
}

interface Entry {
  key: Buffer;
  bytes: Bytes;
}

/** What lmdb-js's types leave out. */
interface Coding {
  encoder: { encode(value: unknown): Buffer };
  decoder: { decode(bytes: Buffer): unknown };
}

/** Entries by the first two bytes of their keys: of counted sets, that is one level of one set. */
type Drawers = Map<number, Map<string, Entry>>;

const drawerOf = (key: Buffer): number => ((key[0] ?? 0) << 8) | (key[1] ?? 0);

const entriesIn = (drawers: Drawers, { start, end }: KeyBounds): Entry[] => {
  const [first, last] = [start === undefined ? 0 : drawerOf(start), end === undefined ? Infinity : drawerOf(end)];
  const found: Entry[] = [];
  for (const [drawer, entries] of drawers) {
    if (drawer < first || drawer > last) continue;
    for (const entry of entries.values()) {
      if ((start === undefined || entry.key.compare(start) >= 0) && (end === undefined || entry.key.compare(end) < 0)) found.push(entry);
    }
  }
  return found.sort((one, other) => one.key.compare(other.key));
};

interface Row {
  key: Buffer;
  value: unknown;
}

/** Both in order; what is pending hides what is stored. */
function* merged(stored: Iterable<Row>, pending: readonly Entry[], valueOf: (bytes: Buffer) => unknown): Generator<Row> {
  let next = 0;
  const upTo = function* (key: Buffer | undefined): Generator<Row> {
    for (let entry = pending[next]; entry !== undefined; entry = pending[next]) {
      if (key !== undefined && entry.key.compare(key) > 0) return;
      next++;
      if (entry.bytes !== null) yield { key: entry.key, value: valueOf(entry.bytes) };
    }
  };
  for (const row of stored) {
    yield* upTo(row.key);
    if (pending[next - 1]?.key.equals(row.key) !== true) yield row;
  }
  yield* upTo(undefined);
}

const at = <Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> => {
  let map = maps.get(key);
  if (map === undefined) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
};

/** lmdb-js tells of a failed commit by an error that holds a promise, which rejects with the reason. */
const failureOf = async (error: unknown): Promise<Error> => {
  const promised: unknown = error instanceof Error && "commitError" in error ? error.commitError : undefined;
  const cause: unknown = promised instanceof Promise ? await promised.catch((reason: unknown) => reason) : error;
  return new Error(`LMDB cannot write: ${messageOf(cause)}`, { cause });
};

export const createPending = ({ root, db }: Pick<Environment, "root" | "db">): Pending => {
  const rooms = new Map<DatabaseName, Drawers>();

  const find = (database: DatabaseName, key: Buffer): Entry | undefined =>
    rooms.get(database)?.get(drawerOf(key))?.get(key.toString("latin1"));

  const isRaw = (database: DatabaseName): boolean => databases[database] === "raw";
  const coding = (database: DatabaseName): Coding => db[database] as StoreDatabase & Coding;
  const valueOf = (database: DatabaseName, bytes: Buffer): unknown => (isRaw(database) ? bytes : coding(database).decoder.decode(bytes));

  const putBytes = (database: DatabaseName, key: Buffer, bytes: Bytes): void => {
    const drawers = at(rooms, database);
    at(drawers, drawerOf(key)).set(key.toString("latin1"), { key, bytes });
  };

  const inRange = (database: DatabaseName, bounds: KeyBounds): Entry[] => {
    const drawers = rooms.get(database);
    return drawers === undefined ? [] : entriesIn(drawers, bounds);
  };

  const clear = (): void => rooms.clear();

  const handOver = (): Promise<boolean> =>
    root.batch(() => {
      for (const [database, drawers] of rooms) {
        for (const drawer of drawers.values()) {
          for (const { key, bytes } of drawer.values()) {
            if (bytes === null) void db[database].remove(key);
            else void db[database].put(key, isRaw(database) ? bytes : asBinary(bytes));
          }
        }
      }
    });

  return {
    get: (database, key) => {
      const entry = find(database, key);
      if (entry !== undefined) return entry.bytes === null ? undefined : valueOf(database, entry.bytes);
      return canBeKey(key) ? db[database].get(key) : undefined;
    },
    range: (database, bounds) => {
      const pending = inRange(database, bounds);
      const stored = db[database].getRange({ ...bounds });
      return pending.length === 0 ? stored : merged(stored, pending, (bytes) => valueOf(database, bytes));
    },
    count: (database, bounds) => {
      let count = db[database].getKeysCount({ ...bounds });
      for (const { key, bytes } of inRange(database, bounds)) count += Number(bytes !== null) - Number(db[database].doesExist(key));
      return count;
    },
    has: (database, key) => {
      const entry = find(database, key);
      return entry === undefined ? db[database].doesExist(key) : entry.bytes !== null;
    },
    bytes: (database, key) => {
      const entry = find(database, key);
      return entry === undefined ? (db[database].getBinary(key) ?? null) : entry.bytes;
    },
    put: (database, key, value) => putBytes(database, key, isRaw(database) ? (value as Buffer) : coding(database).encoder.encode(value)),
    putBytes,
    commit: async () => {
      try {
        await handOver();
        root.resetReadTxn();
      } catch (error) {
        throw await failureOf(error);
      } finally {
        clear();
      }
    },
    clear,
  };
};
