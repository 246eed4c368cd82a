/**
 * What to put back to revert a block, as bytes: for each write the place of the database (1 byte), the length of the key (2),
 * one more than the length of what was there (4; 0: nothing was), the key, and what was there.
 */
export interface UndoLog {
  add(database: number, key: Buffer, before: Buffer | null): void;
  bytes(): Buffer;
}

export interface UndoEntry {
  database: number;
  key: Buffer;
  before: Buffer | null;
}

const headLength = 7;
const firstSize = 16 * 1024;

export const createUndoLog = (): UndoLog => {
  let log = Buffer.allocUnsafe(firstSize);
  let length = 0;
  const room = (size: number): void => {
    if (length + size <= log.length) return;
    const longer = Buffer.allocUnsafe(Math.max(log.length * 2, length + size));
    log.copy(longer, 0, 0, length);
    log = longer;
  };
  return {
    add: (database, key, before) => {
      room(headLength + key.length + (before?.length ?? 0));
      log[length] = database;
      log.writeUInt16BE(key.length, length + 1);
      log.writeUInt32BE(before === null ? 0 : before.length + 1, length + 3);
      log.set(key, length + headLength);
      if (before !== null) log.set(before, length + headLength + key.length);
      length += headLength + key.length + (before?.length ?? 0);
    },
    bytes: () => log.subarray(0, length),
  };
};

/** In the order in which they were added. */
export const undoEntries = (log: Buffer): UndoEntry[] => {
  const entries: UndoEntry[] = [];
  for (let at = 0; at < log.length; ) {
    const keyLength = log.readUInt16BE(at + 1);
    const beforeLength = log.readUInt32BE(at + 3) - 1;
    const key = at + headLength;
    const before = key + keyLength;
    const end = before + Math.max(0, beforeLength);
    entries.push({
      database: log.readUInt8(at),
      key: Buffer.from(log.subarray(key, before)),
      before: beforeLength < 0 ? null : Buffer.from(log.subarray(before, end)),
    });
    at = end;
  }
  return entries;
};

/** The keys of some databases that a log is about. What was there is not looked at: that is most of a log. */
export const undoKeys = (log: Buffer, databases: ReadonlySet<number>): Omit<UndoEntry, "before">[] => {
  const keys: Omit<UndoEntry, "before">[] = [];
  for (let at = 0; at < log.length; ) {
    const database = log.readUInt8(at);
    const before = at + headLength + log.readUInt16BE(at + 1);
    if (databases.has(database)) keys.push({ database, key: log.subarray(at + headLength, before) });
    at = before + Math.max(0, log.readUInt32BE(at + 3) - 1);
  }
  return keys;
};
