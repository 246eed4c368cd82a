import type { Transaction as ReadTransaction } from "lmdb";
import {
  addChecksums,
  changeChecksum,
  checksumBytes,
  type Checksum,
  checksumKey,
  checksumsKey,
  hasChecksum,
  hashOf,
  keyHashOf,
  rangeOf,
  readChecksum,
} from "../layout/checksums.js";
import { type DatabaseName, databases, holdsBytes } from "../layout/keys.js";
import { numberBytes, pieceKeyOf } from "../layout/posting-pieces.js";
import type { Environment, StoreDatabase } from "../lmdb/environment.js";
import { createReadSession, type KeyBounds, openNewest, type ReadSession, type WriterReads } from "../lmdb/read-session.js";
import { createWriteLog, type LogBytes } from "../layout/write-log.js";

/** The bytes of a key's value; null: it has none. */
export type Bytes = Buffer | null;

/** Writes that can be read back by key, kept in one log. */
interface Memtable {
  put(database: DatabaseName, key: Buffer, bytes: Bytes): void;
  /** Undefined: nothing was put there. */
  find(database: DatabaseName, key: Buffer): Bytes | undefined;
  /** Adds what was put between two keys to `found`, under keys as latin1, which compare as the bytes do. */
  addWithin(database: DatabaseName, bounds: KeyBounds, found: Map<string, Bytes>): void;
  /** The last write under each key, as a log of entries (write-log.ts). */
  log(): LogBytes;
  /** Forgets all writes. */
  clear(): void;
}

/** Where in the log the entry of each key begins, by the first two bytes of the keys: in counted sets, these are one level of one set. */
type ByPrefix = Map<number, Map<string, number>>;

const prefixOf = (key: Buffer): number => ((key[0] ?? 0) << 8) | (key[1] ?? 0);

const textOf = (key: Buffer): string => key.toString("latin1");

const getOrCreate = <Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> => {
  let map = maps.get(key);
  if (map === undefined) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
};

const createMemtable = (): Memtable => {
  const log = createWriteLog();
  const byDatabase = new Map<DatabaseName, ByPrefix>();
  return {
    put: (database, key, bytes) => {
      const begins = getOrCreate(getOrCreate(byDatabase, database), prefixOf(key));
      const text = textOf(key);
      const before = begins.get(text);
      if (before !== undefined) log.drop(before);
      begins.set(text, log.add(database, key, bytes));
    },
    find: (database, key) => {
      const begin = byDatabase.get(database)?.get(prefixOf(key))?.get(textOf(key));
      return begin === undefined ? undefined : log.valueAt(begin);
    },
    addWithin: (database, { start, end }, found) => {
      const [first, last] = [start === undefined ? 0 : prefixOf(start), end === undefined ? Infinity : prefixOf(end)];
      const [from, below] = [start === undefined ? "" : textOf(start), end === undefined ? undefined : textOf(end)];
      for (const [prefix, begins] of byDatabase.get(database) ?? []) {
        if (prefix < first || prefix > last) continue;
        for (const [key, begin] of begins) if (key >= from && (below === undefined || key < below)) found.set(key, log.valueAt(begin));
      }
    },
    log: log.bytes,
    clear: () => {
      byDatabase.clear();
      log.clear();
    },
  };
};

/** What the writes of a batch change in the checksums of the store (layout/checksums.ts). */
interface ChecksumChanges {
  /** `before` undefined: the value that the key has is read. */
  change(database: DatabaseName, key: Buffer, after: Bytes, before: Bytes | undefined): void;
  /** The checksums that have changed, for `meta`. Then there are no changes. */
  take(): { key: Buffer; bytes: Bytes }[];
  clear(): void;
}

/** How a batch reads: what is pending (undefined where nothing is), or what is stored. */
interface ChecksumReading {
  get(database: DatabaseName, key: Buffer): unknown;
  find(database: DatabaseName, key: Buffer): Bytes | undefined;
  stored(database: DatabaseName, key: Buffer): Bytes;
}

const createChecksumChanges = ({ get, find, stored }: ChecksumReading): ChecksumChanges => {
  const names = Object.keys(databases) as DatabaseName[];
  /** By number of range. */
  const all = Object.fromEntries(names.map((name) => [name, new Map<number, Checksum>()])) as Record<DatabaseName, Map<number, Checksum>>;

  const of = (database: DatabaseName, range: number): Checksum => {
    let checksum = all[database].get(range);
    if (checksum === undefined) all[database].set(range, (checksum = { sum: 0, count: 0 }));
    return checksum;
  };

  /** Whether the store keeps checksums; not known yet: undefined. */
  let areKept: boolean | undefined;

  const read = (database: DatabaseName, key: Buffer): Bytes => {
    const pending = find(database, key);
    if (pending !== undefined) return pending;
    // Numbers of lists are written one by one, and stored in pieces.
    return database === "lists" ? numberBytes(stored(database, pieceKeyOf(key)), key) : stored(database, key);
  };

  const clear = (): void => {
    areKept = undefined;
    for (const name of names) all[name].clear();
  };

  return {
    change: (database, key, after, known) => {
      areKept ??= get("meta", checksumsKey) === true;
      if (!areKept || !hasChecksum(database, key)) return;
      const before = known === undefined ? read(database, key) : known;
      if (before === null && after === null) return;
      const checksum = of(database, rangeOf(database, key));
      const ofKey = keyHashOf(key);
      if (before !== null) changeChecksum(checksum, hashOf(ofKey, before), -1);
      if (after !== null) changeChecksum(checksum, hashOf(ofKey, after), 1);
    },
    take: () => {
      const taken = names.flatMap((name) =>
        [...all[name]].map(([range, change]) => {
          const key = checksumKey(name, range);
          const after = addChecksums(readChecksum(read("meta", key)), change);
          return { key, bytes: after.count === 0 ? null : checksumBytes(after) };
        }),
      );
      clear();
      return taken;
    },
    clear,
  };
};

/**
 * The writes of blocks that are not committed yet, as an overlay on the store: reading through it is as if they were, and nobody else
 * sees them. Preparing a block takes many turns of the event loop; all of it is then committed at once, in a thread of its own.
 * Meanwhile the next blocks can be prepared on top of it.
 */
export interface WriteBatch extends WriterReads {
  bytes(database: DatabaseName, key: Buffer): Bytes;
  /** A caller that knows the value of the key passes it (`before`), which saves reading it for the checksums. */
  put(database: DatabaseName, key: Buffer, value: unknown, before?: Bytes): void;
  putBytes(database: DatabaseName, key: Buffer, bytes: Bytes, before?: Bytes): void;
  /**
   * Commits what was put so far, in one LMDB transaction; what is put meanwhile belongs to the next one. Must not be called again before
   * it settles. Rejects when the commit fails.
   */
  commit(): Promise<void>;
  /** Discards what was put since the last commit began. */
  clear(): void;
}

/** What lmdb-js's types leave out. */
interface Coding {
  encoder: { encode(value: unknown): Buffer };
  decoder: { decode(bytes: Buffer): unknown };
}

/** What is stored, as one read transaction sees it. */
interface Stored {
  transaction: ReadTransaction;
  reading: ReadSession;
}

interface Row {
  key: Buffer;
  value: unknown;
}

interface PendingRow {
  key: Buffer;
  bytes: Bytes;
}

/** What is stored, held from the first read to the next commit, so that a block is prepared on one state. */
const createStored = (environment: Pick<Environment, "path" | "root" | "db">) => {
  let opened: Stored | undefined;
  return {
    reading: (): ReadSession => {
      if (opened === undefined) {
        const transaction = openNewest(environment);
        opened = { transaction, reading: createReadSession(environment, transaction) };
      }
      return opened.reading;
    },
    letGo: (): void => {
      opened?.transaction.done();
      opened = undefined;
    },
  };
};

/** Values as bytes and back, by the encoding of their database. */
const createCoding = (db: Environment["db"]) => {
  const coding = (database: DatabaseName): Coding => db[database] as StoreDatabase & Coding;
  return {
    encode: (database: DatabaseName, value: unknown): Buffer =>
      (holdsBytes(database) ? (value as Buffer) : coding(database).encoder.encode(value)),
    decode: (database: DatabaseName, bytes: Buffer): unknown => (holdsBytes(database) ? bytes : coding(database).decoder.decode(bytes)),
  };
};

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

/** What is put and not committed, and what is being committed. */
const createUncommitted = () => {
  let latest: Memtable = createMemtable();
  /** Empty unless a commit is under way. */
  let committing: Memtable = createMemtable();
  return {
    latest: () => latest,
    /** What was put so far is being committed from now on. */
    take: (): Memtable => {
      [latest, committing] = [committing, latest];
      return committing;
    },
    /** Undefined where nothing is pending. */
    find: (database: DatabaseName, key: Buffer): Bytes | undefined => {
      const bytes = latest.find(database, key);
      return bytes === undefined ? committing.find(database, key) : bytes;
    },
    inRange: (database: DatabaseName, bounds: KeyBounds): PendingRow[] => {
      const found = new Map<string, Bytes>();
      committing.addWithin(database, bounds, found);
      latest.addWithin(database, bounds, found);
      const rows = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
      return rows.map(([key, bytes]) => ({ key: Buffer.from(key, "latin1"), bytes }));
    },
  };
};

export const createWriteBatch = (environment: Pick<Environment, "path" | "root" | "db" | "commit">): WriteBatch => {
  const { latest, take, find, inRange } = createUncommitted();
  const { reading: stored, letGo } = createStored(environment);
  const { encode, decode } = createCoding(environment.db);

  const storedBytes = (database: DatabaseName, key: Buffer): Bytes => stored().bytes(database, key) ?? null;

  const get = (database: DatabaseName, key: Buffer): unknown => {
    const bytes = find(database, key);
    if (bytes !== undefined) return bytes === null ? undefined : decode(database, bytes);
    return stored().get(database, key);
  };

  const checksums = createChecksumChanges({ get, find, stored: storedBytes });

  const putBytes = (database: DatabaseName, key: Buffer, bytes: Bytes, before?: Bytes): void => {
    checksums.change(database, key, bytes, before);
    latest().put(database, key, bytes);
  };

  return {
    get,
    range: (database, bounds) => {
      const pending = inRange(database, bounds);
      const rows = stored().range(database, bounds);
      return pending.length === 0 ? rows : merged(rows, pending, (bytes) => decode(database, bytes));
    },
    count: (database, bounds) => {
      let count = stored().count(database, bounds);
      for (const { key, bytes } of inRange(database, bounds)) count += Number(bytes !== null) - Number(storedBytes(database, key) !== null);
      return count;
    },
    bytes: (database, key) => {
      const bytes = find(database, key);
      return bytes === undefined ? storedBytes(database, key) : bytes;
    },
    put: (database, key, value, before) => putBytes(database, key, encode(database, value), before),
    putBytes,
    commit: async () => {
      for (const { key, bytes } of checksums.take()) latest().put("meta", key, bytes);
      letGo();
      const committing = take();
      try {
        await environment.commit(committing.log());
      } finally {
        letGo();
        environment.root.resetReadTxn();
        committing.clear();
      }
    },
    clear: () => {
      letGo();
      latest().clear();
      checksums.clear();
    },
  };
};
