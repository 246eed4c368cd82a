import { crc32 } from "node:zlib";
import { Packr, RESERVE_START_SPACE } from "msgpackr";
import { PorticoError } from "../../errors.js";

// How the rows of webhooks are written that say where requests go, and what has been told: with a checksum, as LMDB has none. A changed
// byte in a target or a secret would be read as any other, and requests go there. They are few, and written when a client asks for it or a
// block has come; rows of deliveries are many, and have none.

/** Begins a row: a byte that MessagePack never writes. */
const mark = 0xc1;
const headLength = 5;

/** Databases of `webhooks.mdb` with such rows. */
export const hasCheckedRows = (database: string): boolean =>
  ["webhooks-register", "webhooks-progress", "webhooks-ledger"].includes(database);

/** Whole numbers may have any size. */
const packr = new Packr({ useRecords: false, useBigIntExtension: true });

/**
 * Values of a list from which on it is written as one JSON text: a list of 100,000 addresses took 100 ms of processor time, as JSON it
 * takes 5.
 */
const longList = 1_000;

interface ListedCondition {
  value?: unknown;
  /** The value, as JSON in UTF-8: bytes are copied, where a text takes three times its room. */
  list?: Uint8Array;
}

const isLongList = (value: unknown): boolean =>
  Array.isArray(value) && value.length >= longList && value.every((one) => typeof one === "string");

const withLists = (change: (condition: ListedCondition) => ListedCondition, row: unknown): unknown => {
  const { conditions } = row as { conditions?: ListedCondition[] };
  return Array.isArray(conditions) ? { ...(row as object), conditions: conditions.map(change) } : row;
};

const shortened = (condition: ListedCondition): ListedCondition => {
  const { value, ...rest } = condition;
  return isLongList(value) ? { ...rest, list: Buffer.from(JSON.stringify(value)) } : condition;
};
const restored = (condition: ListedCondition): ListedCondition => {
  const { list, ...rest } = condition;
  return list === undefined
    ? condition
    : { ...rest, value: JSON.parse(Buffer.from(list.buffer, list.byteOffset, list.length).toString("utf8")) as unknown };
};

export const encodeRow = (row: unknown): Buffer => {
  const bytes = packr.pack(withLists(shortened, row), RESERVE_START_SPACE + headLength);
  bytes[0] = mark;
  bytes.writeUInt32BE(crc32(bytes.subarray(headLength)), 1);
  return bytes;
};

/** @throws PorticoError RECORD_DAMAGED */
export const decodeRow = (bytes: Buffer): unknown => {
  const packed = bytes.subarray(headLength);
  if (bytes[0] !== mark || bytes.length < headLength || bytes.readUInt32BE(1) !== crc32(packed))
    throw new PorticoError("RECORD_DAMAGED", "The store is damaged: a row of the webhooks is not what was written.");
  return withLists(restored, packr.unpack(packed));
};

/** For lmdb, which reads into a buffer that is longer than what it has read: it says its end, or sets the buffer's own length. */
export const rowEncoder = {
  encode: encodeRow,
  decode: (bytes: Buffer, end?: unknown): unknown =>
    decodeRow(Buffer.from(bytes.buffer, bytes.byteOffset, typeof end === "number" ? end : bytes.length)),
};
