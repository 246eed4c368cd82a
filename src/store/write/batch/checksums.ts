import { addChecksums, changeChecksum, checksumBytes, type Checksum, checksumKey, checksumsKey, hasChecksum, hashOf, keyHashOf, rangeOf, readChecksum } from "../../layout/checksums.js";
import { type DatabaseName, databases } from "../../layout/keys.js";
import { numberBytes, pieceKeyOf } from "../../layout/posting-pieces.js";
import type { Bytes } from "./memtable.js";

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

/** What changes in a database, by number of range; `latest` is that of the last change, since the next is often in the same range. */
interface OfDatabase {
  ranges: Map<number, Checksum>;
  latest: { range: number; checksum: Checksum } | undefined;
}

export const createChecksumChanges = ({ get, find, stored }: ChecksumReading): ChecksumChanges => {
  const names = Object.keys(databases) as DatabaseName[];
  const all = Object.fromEntries(names.map((name): [DatabaseName, OfDatabase] => [name, { ranges: new Map(), latest: undefined }])) as Record<DatabaseName, OfDatabase>;

  const at = (of: OfDatabase, range: number): Checksum => {
    if (of.latest?.range === range) return of.latest.checksum;
    let checksum = of.ranges.get(range);
    if (checksum === undefined) of.ranges.set(range, (checksum = { sum: 0, count: 0 }));
    of.latest = { range, checksum };
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
    for (const name of names) {
      all[name].ranges.clear();
      all[name].latest = undefined;
    }
  };

  return {
    change: (database, key, after, known) => {
      areKept ??= get("meta", checksumsKey) === true;
      if (!areKept || !hasChecksum(database, key)) return;
      const before = known === undefined ? read(database, key) : known;
      if (before === null && after === null) return;
      const checksum = at(all[database], rangeOf(database, key));
      const ofKey = keyHashOf(key);
      if (before !== null) changeChecksum(checksum, hashOf(ofKey, before), -1);
      if (after !== null) changeChecksum(checksum, hashOf(ofKey, after), 1);
    },
    take: () => {
      const taken = names.flatMap((name) =>
        [...all[name].ranges].map(([range, change]) => {
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
