import { createWriteLog, type LogBytes } from "../../layout/write-log.js";
import type { DatabaseName } from "../../layout/keys.js";
import type { KeyBounds } from "../../lmdb/read-session.js";

/** The bytes of a key's value; null: it has none. */
export type Bytes = Buffer | null;

/** Writes that can be read back by key, kept in one log. */
export interface Memtable {
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

/** Where in the log the entry of each key begins. */
type Drawer = Map<string, number>;

/** By the first two bytes of the keys: in counted sets, these are one level of one set. */
type Drawers = Map<number, Drawer>;

const drawerOf = (key: Buffer): number => ((key[0] ?? 0) << 8) | (key[1] ?? 0);

const textOf = (key: Buffer): string => key.toString("latin1");

const at = <Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> => {
  let map = maps.get(key);
  if (map === undefined) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
};

export const createMemtable = (): Memtable => {
  const log = createWriteLog();
  const rooms = new Map<DatabaseName, Drawers>();
  return {
    put: (database, key, bytes) => {
      const drawer = at(at(rooms, database), drawerOf(key));
      const text = textOf(key);
      const before = drawer.get(text);
      if (before !== undefined) log.drop(before);
      drawer.set(text, log.add(database, key, bytes));
    },
    find: (database, key) => {
      const begin = rooms.get(database)?.get(drawerOf(key))?.get(textOf(key));
      return begin === undefined ? undefined : log.valueAt(begin);
    },
    addWithin: (database, { start, end }, found) => {
      const [first, last] = [start === undefined ? 0 : drawerOf(start), end === undefined ? Infinity : drawerOf(end)];
      const [from, below] = [start === undefined ? "" : textOf(start), end === undefined ? undefined : textOf(end)];
      for (const [drawer, begins] of rooms.get(database) ?? []) {
        if (drawer < first || drawer > last) continue;
        for (const [key, begin] of begins) if (key >= from && (below === undefined || key < below)) found.set(key, log.valueAt(begin));
      }
    },
    log: log.bytes,
    clear: () => {
      rooms.clear();
      log.clear();
    },
  };
};
