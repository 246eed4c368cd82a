import { numberKey, undoKey } from "../../layout/keys.js";
import type { WriteBatch } from "./write-batch.js";
import type { Reading, WriterReading } from "../../lmdb/reading.js";
import type { Sliced } from "../../../async/time-slicing.js";

/**
 * The undo records in the store, in pieces that fit into LMDB's pages. A whole record would take some hundred pages in a row: LMDB
 * searches all its free pages for such a run, and extends the file when it finds none.
 */

/** Bytes: two pieces with their keys fill a page. */
const pieceLength = 2_000;

export const putUndo = function* (pending: WriteBatch, height: number, undo: Buffer): Sliced<void> {
  for (let piece = 0; piece * pieceLength < undo.length; piece++) {
    pending.putBytes("undo", undoKey(height, piece), undo.subarray(piece * pieceLength, (piece + 1) * pieceLength), null);
    yield;
  }
};

export const hasUndo = (reading: Pick<Reading, "bytes">, height: number): boolean => reading.bytes("undo", undoKey(height, 0)) !== undefined;

/** Undefined where none is kept. */
export const readUndo = function* (reading: WriterReading, height: number): Sliced<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (const { value } of reading.range("undo", { start: numberKey(height), end: numberKey(height + 1) })) {
    pieces.push(value as Buffer);
    yield;
  }
  return pieces.length === 0 ? undefined : Buffer.concat(pieces);
};

export const removeUndo = (pending: WriteBatch, height: number): void => {
  for (let piece = 0; ; piece++) {
    const key = undoKey(height, piece);
    const before = pending.bytes("undo", key);
    if (before === null) return;
    pending.putBytes("undo", key, null, before);
  }
};
