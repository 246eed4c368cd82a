import type { FileHandle } from "node:fs/promises";
import { HostError } from "../program/host-error.js";

/** A line of a file, without its newline. */
export interface Line {
  text: string;
  /** Byte offsets of the line and of the one after it. */
  start: number;
  end: number;
  /** Whether the line ends with a newline; the last line of a truncated file does not. */
  ended: boolean;
}

const newline = 0x0a;
const chunkSize = 1 << 20;
/** Bytes of a line, at the most: a block with all its transactions has a tenth of that. */
const longest = 64 * 2 ** 20;

/**
 * Reads lines from anywhere in a file. Only the current chunk, or the current line if that is longer, is in memory. Each rejects with a
 * HostError where a line is too long.
 */
export const createLineReader = (file: FileHandle, path: string) => {
  let chunk: Buffer = Buffer.alloc(0);
  let chunkStart = 0;

  const fill = async (position: number, size: number): Promise<void> => {
    const buffer = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await file.read(buffer, filled, size - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    chunk = buffer.subarray(0, filled);
    chunkStart = position;
  };

  /** The line that starts at `start`; undefined at the end of the file. */
  const lineAt = async (start: number): Promise<Line | undefined> => {
    for (let size = chunkSize; ; size *= 2) {
      const inHand = start >= chunkStart && start < chunkStart + chunk.length;
      const from = inHand ? start - chunkStart : 0;
      const at = inHand ? chunk.indexOf(newline, from) : -1;
      if (inHand && at >= 0) return { text: chunk.toString("utf8", from, at), start, end: chunkStart + at + 1, ended: true };
      await fill(start, size);
      if (chunk.length === 0) return undefined;
      if (chunk.indexOf(newline) < 0 && chunk.length < size) {
        return { text: chunk.toString("utf8"), start, end: start + chunk.length, ended: false };
      }
      if (size >= longest && chunk.indexOf(newline) < 0) throw new HostError(`${path}, line ${await numberAt(start)}: the line has more than ${longest} bytes.`);
    }
  };

  /** Offset of the first line that starts at or after `position`; the file's size if there is none. */
  const startAfter = async (position: number): Promise<number> => {
    if (position === 0) return 0;
    const rest = await lineAt(position - 1);
    return rest?.end ?? position;
  };

  /** Offset of the last line. */
  const lastStart = async (size: number): Promise<number> => {
    for (let step = chunkSize; ; step *= 2) {
      const from = Math.max(0, size - step);
      await fill(from, size - from);
      const body = chunk.at(-1) === newline ? chunk.subarray(0, -1) : chunk;
      const at = body.lastIndexOf(newline);
      if (at >= 0) return from + at + 1;
      if (from === 0) return 0;
      if (step >= longest) throw new HostError(`${path}: its last line has more than ${longest} bytes.`);
    }
  };

  /** Number, from 1, of the line that starts at `start`. Counts all lines before it, so use it for error messages only. */
  const numberAt = async (start: number): Promise<number> => {
    let number = 1;
    for (let at = 0; at < start; ) {
      const line = await lineAt(at);
      if (line === undefined) break;
      at = line.end;
      number++;
    }
    return number;
  };

  return { lineAt, startAfter, lastStart, numberAt };
};
