import { orphanRows } from "../follow/orphans.js";
import { rowChecksum } from "../layout/row-checksum.js";
import type { EntryCheck } from "./entry-check.js";
import { unpackRecord } from "./unpack-record.js";

/** MessagePack's `true`. */
const isTrue = (value: Buffer): boolean => value.equals(Buffer.from([0xc3]));

/** Compares each row of the blocks beyond the chain with the checksum that it carries, and the times of their reversal with the list of these. */
export const createOrphanCheck = (): EntryCheck => {
  const faults: string[] = [];
  const [reverted, listed] = [new Set<string>(), new Set<string>()];
  const fault = (key: Buffer): void => void faults.push(`database "orphans", key ${key.toString("hex")}: it is not what was written`);

  const check = (key: Buffer, value: Buffer): void => {
    const kind = key.toString("latin1", 0, 1);
    if (kind === "t") {
      listed.add(key.toString("hex"));
      if (!isTrue(value)) fault(key);
      return;
    }
    const row = unpackRecord(value);
    const length = orphanRows.lengthOf(kind);
    if (length === undefined || !Array.isArray(row) || row.length !== length + 1) return fault(key);
    if (row[length] !== rowChecksum(key, row.slice(0, length))) fault(key);
    if (kind === "o") reverted.add(orphanRows.revertedKeyOf(key, row).toString("hex"));
  };

  return {
    entry: (database, key, value) => {
      if (database !== "orphans") return;
      try {
        check(key, value);
      } catch {
        // The check of records tells of it.
      }
    },
    end: () => {
      const differ = [...reverted].filter((key) => !listed.has(key)).length + [...listed].filter((key) => !reverted.has(key)).length;
      return { faults: [...faults, ...(differ === 0 ? [] : [`database "orphans": the list of times is not that of its blocks (${differ} differ)`])] };
    },
  };
};
