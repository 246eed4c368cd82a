import { numberKey, undoKey } from "./keys.js";
import type { Pending } from "./pending.js";
import type { WriterReading } from "./reading.js";

/**
 * The undo records in the store, in pieces that lie within LMDB's pages. Whole ones would want some hundred pages in a row: LMDB looks
 * for those through all the pages that are free, and adds them to the file when it finds none.
 */

/** Bytes: two of them, with their keys, fill a page. */
const pieceLength = 2_000;

export const putUndo = (pending: Pending, height: number, undo: Buffer): void => {
  for (let piece = 0; piece * pieceLength < undo.length; piece++) {
    pending.putBytes("undo", undoKey(height, piece), undo.subarray(piece * pieceLength, (piece + 1) * pieceLength));
  }
};

const piecesOf = (reading: WriterReading, height: number): { key: Buffer; value: Buffer }[] =>
  [...reading.range("undo", { start: numberKey(height), end: numberKey(height + 1) })].map(({ key, value }) => ({ key: Buffer.from(key), value: value as Buffer }));

/** Undefined where none is kept. */
export const readUndo = (reading: WriterReading, height: number): Buffer | undefined => {
  const pieces = piecesOf(reading, height);
  return pieces.length === 0 ? undefined : Buffer.concat(pieces.map(({ value }) => value));
};

export const removeUndo = (pending: Pending, height: number): void => {
  for (const { key } of piecesOf(pending, height)) pending.putBytes("undo", key, null);
};
