import { createEntryLog, type EntryLog } from "./entry-log.js";
import type { Environment, StoreDatabase } from "./environment.js";
import { canBeKey, type DatabaseName, databases } from "./keys.js";
import type { KeyBounds, WriterReading } from "./reading.js";

/** The bytes that lie under a key; null: nothing does. */
export type Bytes = Buffer | null;

/**
 * What blocks are about to write, over what is written: it reads as if it were written already, and nobody else sees it. Working
 * out a block takes many turns of the process; all of it is then committed at once, in a thread of its own.
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

/** What lmdb-js's types leave out. */
interface Coding {
  encoder: { encode(value: unknown): Buffer };
  decoder: { decode(bytes: Buffer): unknown };
}

/** Where the log has the entry of a key. Keys are texts of a letter a byte: those compare as the bytes do. */
type Drawer = Map<string, number>;

/** By the first two bytes of the keys: of counted sets, that is one level of one set. */
type Drawers = Map<number, Drawer>;

const drawerOf = (key: Buffer): number => ((key[0] ?? 0) << 8) | (key[1] ?? 0);

const textOf = (key: Buffer): string => key.toString("latin1");

interface Found {
  key: string;
  begin: number;
}

const foundIn = (drawers: Drawers, { start, end }: KeyBounds): Found[] => {
  const [first, last] = [start === undefined ? 0 : drawerOf(start), end === undefined ? Infinity : drawerOf(end)];
  const [from, below] = [start === undefined ? "" : textOf(start), end === undefined ? undefined : textOf(end)];
  const found: Found[] = [];
  for (const [drawer, begins] of drawers) {
    if (drawer < first || drawer > last) continue;
    for (const [key, begin] of begins) if (key >= from && (below === undefined || key < below)) found.push({ key, begin });
  }
  return found.sort((one, other) => (one.key < other.key ? -1 : 1));
};

interface Row {
  key: Buffer;
  value: unknown;
}

interface PendingRow {
  key: Buffer;
  bytes: Bytes;
}

/** Both in order; what is pending hides what is stored. */
function* merged(stored: Iterable<Row>, pending: readonly PendingRow[], valueOf: (bytes: Buffer) => unknown): Generator<Row> {
  let next = 0;
  const upTo = function* (key: Buffer | undefined): Generator<Row> {
    for (let row = pending[next]; row !== undefined; row = pending[next]) {
      if (key !== undefined && row.key.compare(key) > 0) return;
      next++;
      if (row.bytes !== null) yield { key: row.key, value: valueOf(row.bytes) };
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

export const createPending = (environment: Pick<Environment, "root" | "db" | "commit">): Pending => {
  const { root, db } = environment;
  let log: EntryLog = createEntryLog();
  const rooms = new Map<DatabaseName, Drawers>();

  const clear = (): void => {
    log = createEntryLog();
    rooms.clear();
  };

  /** Undefined where nothing is pending. */
  const pendingBytes = (database: DatabaseName, key: Buffer): Bytes | undefined => {
    const begin = rooms.get(database)?.get(drawerOf(key))?.get(textOf(key));
    return begin === undefined ? undefined : log.valueAt(begin);
  };

  const isRaw = (database: DatabaseName): boolean => databases[database] === "raw";
  const coding = (database: DatabaseName): Coding => db[database] as StoreDatabase & Coding;
  const valueOf = (database: DatabaseName, bytes: Buffer): unknown => (isRaw(database) ? bytes : coding(database).decoder.decode(bytes));

  const putBytes = (database: DatabaseName, key: Buffer, bytes: Bytes): void => {
    const drawer = at(at(rooms, database), drawerOf(key));
    const text = textOf(key);
    const before = drawer.get(text);
    if (before !== undefined) log.drop(before);
    drawer.set(text, log.add(database, key, bytes));
  };

  const inRange = (database: DatabaseName, bounds: KeyBounds): PendingRow[] => {
    const drawers = rooms.get(database);
    if (drawers === undefined) return [];
    return foundIn(drawers, bounds).map(({ key, begin }) => ({ key: Buffer.from(key, "latin1"), bytes: log.valueAt(begin) }));
  };

  return {
    get: (database, key) => {
      const bytes = pendingBytes(database, key);
      if (bytes !== undefined) return bytes === null ? undefined : valueOf(database, bytes);
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
      const bytes = pendingBytes(database, key);
      return bytes === undefined ? db[database].doesExist(key) : bytes !== null;
    },
    bytes: (database, key) => {
      const bytes = pendingBytes(database, key);
      return bytes === undefined ? (db[database].getBinary(key) ?? null) : bytes;
    },
    put: (database, key, value) => putBytes(database, key, isRaw(database) ? (value as Buffer) : coding(database).encoder.encode(value)),
    putBytes,
    commit: async () => {
      try {
        await environment.commit(log.bytes());
        root.resetReadTxn();
      } finally {
        clear();
      }
    },
    clear,
  };
};
