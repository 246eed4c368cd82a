import { numberKey, undoKey } from "./keys.js";
import type { Pending } from "./pending.js";
import type { WriterReading } from "./reading.js";

/**
 * The undo records in the store, in pieces that fit into LMDB's pages. A whole record would take some hundred pages in a row: LMDB
 * searches all its free pages for such a run, and extends the file when it finds none.
 */

/** Bytes: two pieces with their keys fill a page. */
const pieceLength = 2_000;

export const putUndo = (pending: Pending, height: number, undo: Buffer): void => {
  for (let piece = 0; piece * pieceLength < undo.length; piece++) {
    pending.putBytes("undo", undoKey(height, piece), undo.subarray(piece * pieceLength, (piece + 1) * pieceLength));
  }
};

/** Undefined where none is kept. */
export const readUndo = (reading: WriterReading, height: number): Buffer | undefined => {
  const pieces = [...reading.range("undo", { start: numberKey(height), end: numberKey(height + 1) })].map(({ value }) => value as Buffer);
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
};

export const removeUndo = (pending: Pending, height: number): void => {
  for (let piece = 0, key = undoKey(height, piece); pending.has("undo", key); key = undoKey(height, ++piece)) pending.putBytes("undo", key, null);
};
