import { expect } from "chai";
import fc from "fast-check";
import { changeChecksum, type Checksum, checksumKey, hashOf, hasChecksum, keyHashOf, numbersOf, parseChecksumKey, rangeOf, readChecksum } from "../../src/store/layout/checksums.js";
import type { DatabaseName } from "../../src/store/layout/keys.js";
import type { StoreDatabase } from "../../src/store/lmdb/environment.js";
import type { Store } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";
import { count } from "../fixtures/long.js";
import { closeTemporaryStores, openStoreAt } from "./temporary-store.js";

const name = "core3-custom-c";
const chain = loadChain(name);

/** By name of the database and range: as the store keeps them, and as they are. */
const checksumsOf = ({ environment: { db } }: Store) => {
  const nameOf = (key: Buffer): string => key.toString("latin1");
  const kept: Record<string, Checksum> = {};
  const found: Record<string, Checksum> = {};
  const add = (name: DatabaseName, key: Buffer, value: Buffer): void => {
    if (!hasChecksum(name, key)) return;
    const range = nameOf(checksumKey(name, rangeOf(name, key)));
    changeChecksum((found[range] ??= { sum: 0, count: 0 }), hashOf(keyHashOf(key), value), 1);
  };
  for (const [name, database] of Object.entries(db) as [DatabaseName, StoreDatabase][]) {
    for (const each of database.getKeys({})) {
      const key = Buffer.from(each);
      const value = database.getBinary(key)!;
      if (name === "meta" && parseChecksumKey(key) !== undefined) kept[nameOf(key)] = readChecksum(value);
      for (const entry of name === "lists" ? numbersOf(key, value) : [{ key, value }]) add(name, entry.key, entry.value);
    }
  }
  return { kept, found };
};

describe("the checksums of a store", () => {
  afterEach(closeTemporaryStores);

  it("are those of what it holds, whatever was applied, together or one by one, and reverted", async () => {
    const [begun, undoBlocks] = [10, 20];
    const deed = fc.record({ what: fc.constantFrom("on", "together", "back"), blocks: fc.integer({ min: 1, max: 8 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 8, maxLength: 14 }), async (deeds) => {
        const { store, rules } = await openStoreAt(name, begun, { undoBlocks, disposable: true });
        const blocks = chain.blocks.slice(0, begun + 112).map(rules.parseBlock);
        let [height, highest] = [begun, begun];
        for (const { what, blocks: length } of deeds) {
          if (what === "back") {
            // Further back there are no undo records.
            const lowest = Math.max(begun, highest - undoBlocks, height - length);
            for (; height > lowest; height--) await store.revert();
          } else {
            const next = blocks.slice(height, height + length);
            height += next.length;
            highest = Math.max(highest, height);
            for (const some of what === "on" ? next.map((one) => [one]) : [next]) await store.apply(some, height);
          }
        }
        const { kept, found } = checksumsOf(store);
        expect(kept).to.deep.equal(found);
        expect(Object.keys(kept)).to.include.members(["checksum wallets ", "checksum meta ", "checksum blocks \0\0\0", "checksum sets \x01", "checksum lists "]);
      }),
      // A failure is told at once, with its seed: to make it smaller would take minutes.
      { numRuns: count(2, 100), endOnFailure: true },
    );
  });

  it("differ if one bit of a value or of a key does, or two values change places", async () => {
    const { store } = await openStoreAt(name, 1);
    const { wallets } = store.environment.db;
    const rows = [...wallets.getKeys({})].map((key): { key: Buffer; value: Buffer } => ({ key: Buffer.from(key), value: wallets.getBinary(key)! }));
    const sumOf = (all: typeof rows): number => all.reduce((sum, { key, value }) => sum + hashOf(keyHashOf(key), value), 0);
    const whole = sumOf(rows);
    const flipped = (bytes: Buffer, bit: number): Buffer => {
      const copy = Buffer.concat([bytes]);
      copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return copy;
    };
    const { key, value } = rows[3]!;
    for (let bit = 0; bit < value.length * 8; bit++) expect(sumOf(rows.with(3, { key, value: flipped(value, bit) }))).to.not.equal(whole);
    for (let bit = 0; bit < key.length * 8; bit++) expect(sumOf(rows.with(3, { key: flipped(key, bit), value }))).to.not.equal(whole);
    for (const [i, other] of rows.entries()) {
      const exchanged = rows.map((row, at) => ({ key: row.key, value: at === 3 ? other.value : at === i ? value : row.value }));
      if (!other.value.equals(value)) expect(sumOf(exchanged)).to.not.equal(whole);
    }
  });
});
