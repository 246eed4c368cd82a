import { hashOf, keyHashOf } from "./checksums.js";

/** A value of a row, as it is and as it is read again: bytes in any kind of array, numbers of any kind by their digits. */
const valueText = function (this: Record<string, unknown>, name: string, value: unknown): unknown {
  const own = this[name];
  if (own instanceof Uint8Array) return Buffer.from(own).toString("hex");
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
};

/** For rows that are written one by one, beside the blocks, and so are in no sum: each carries its own checksum, as its last value. */
export const rowChecksum = (key: Buffer, values: readonly unknown[]): number => hashOf(keyHashOf(key), Buffer.from(JSON.stringify(values, valueText)));
