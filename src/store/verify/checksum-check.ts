import { type Checksum, changeChecksum, checksumKey, checksumsKey, checksumsOfOldChain, hashOf, hasChecksum, keyHashOf, numbersOf, parseChecksumKey, rangeOf, readChecksum } from "../layout/checksums.js";
import { type DatabaseName, databases } from "../layout/keys.js";
import type { EntryCheck } from "./entry-check.js";

const none: Checksum = { sum: 0, count: 0 };

const rangeText = (range: Buffer): string => (range.length === 0 ? "" : `, range ${range.toString("hex")}`);

const isDatabase = (name: string): name is DatabaseName => name in databases;

/** What the note may say, as MessagePack. */
const noted = { kept: Buffer.from([0xc3]), removed: Buffer.concat([Buffer.from([0xa0 + checksumsOfOldChain.length]), Buffer.from(checksumsOfOldChain)]) };

/** Compares the entries of each range of keys with the checksum that the store keeps of it. */
export const createChecksumCheck = (): EntryCheck => {
  const kept = new Map<string, Checksum>();
  const found = new Map<string, Checksum>();
  let note: Buffer | undefined;

  const add = (database: DatabaseName, key: Buffer, value: Buffer): void => {
    const name = checksumKey(database, rangeOf(database, key)).toString("latin1");
    const checksum = found.get(name) ?? { ...none };
    changeChecksum(checksum, hashOf(keyHashOf(key), value), 1);
    found.set(name, checksum);
  };

  return {
    entry: (database, key, value) => {
      if (!isDatabase(database)) return;
      if (database === "meta") {
        if (key.equals(checksumsKey)) note = Buffer.from(value);
        else if (parseChecksumKey(key) !== undefined) kept.set(key.toString("latin1"), readChecksum(value));
      }
      if (!hasChecksum(database, key)) return;
      if (database === "lists") for (const number of numbersOf(key, value)) add(database, number.key, number.value);
      else add(database, key, value);
    },
    end: () => {
      if (note?.equals(noted.removed) === true) return { faults: [] };
      const names = [...new Set([...kept.keys(), ...found.keys()])].sort();
      const faults = names.flatMap((name) => {
        const [is, should] = [found.get(name) ?? none, kept.get(name) ?? none];
        if (is.sum === should.sum && is.count === should.count) return [];
        const { database = "?", range = Buffer.alloc(0) } = parseChecksumKey(Buffer.from(name, "latin1")) ?? {};
        return [`database "${database}"${rangeText(range)}: its entries are not those that were written (${is.count} are there, ${should.count} were written)`];
      });
      // A damaged note must not hide that they are kept.
      const isNoted = note?.equals(noted.kept) === true;
      return { faults: isNoted ? faults : [...faults, 'database "meta": the note that checksums are kept is missing or damaged'] };
    },
  };
};
