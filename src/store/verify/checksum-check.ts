import { addChecksums, type Checksum, checksumKey, checksumsKey, hashOf, hasChecksum, parseChecksumKey, rangeOf, readChecksum } from "../layout/checksums.js";
import { databases } from "../layout/keys.js";
import type { EntryCheck } from "./entry-check.js";

const none: Checksum = { sum: 0, count: 0 };

const rangeText = (range: Buffer): string => (range.length === 0 ? "" : `, range ${range.toString("hex")}`);

/** Compares the entries of each range of keys with the checksum that the store keeps of it. A store that was begun without has none. */
export const createChecksumCheck = (): EntryCheck => {
  const kept = new Map<string, Checksum>();
  const found = new Map<string, Checksum>();
  let areKept = false;

  const textOf = (database: string, key: Buffer): string => checksumKey(database, rangeOf(database, key)).toString("latin1");

  return {
    entry: (database, key, value) => {
      if (!(database in databases)) return;
      if (database === "meta") {
        if (key.equals(checksumsKey)) areKept = true;
        else if (parseChecksumKey(key) !== undefined) kept.set(key.toString("latin1"), readChecksum(value));
      }
      if (!hasChecksum(database, key)) return;
      const name = textOf(database, key);
      found.set(name, addChecksums(found.get(name) ?? none, { sum: hashOf(key, value), count: 1 }));
    },
    end: () => {
      // A damaged note that checksums are kept must not hide that they are.
      if (!areKept && kept.size === 0) return { faults: [] };
      const names = [...new Set([...kept.keys(), ...found.keys()])].sort();
      const faults = names.flatMap((name) => {
        const [is, should] = [found.get(name) ?? none, kept.get(name) ?? none];
        if (is.sum === should.sum && is.count === should.count) return [];
        const { database = "?", range = Buffer.alloc(0) } = parseChecksumKey(Buffer.from(name, "latin1")) ?? {};
        return [`database "${database}"${rangeText(range)}: its entries are not those that were written (${is.count} are there, ${should.count} were written)`];
      });
      return { faults: areKept ? faults : [...faults, 'database "meta": the note that checksums are kept is missing'] };
    },
  };
};
