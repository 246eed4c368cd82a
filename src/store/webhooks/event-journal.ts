import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { EventJournal, HeardEvent } from "../../../types/webhook-store.js";
import { messageOf, PorticoError } from "../../errors.js";
import { makeFolder } from "../../make-folder.js";
import { keepFromOthers } from "../lmdb/file-mode.js";

/** A file that has grown beyond this (bytes) is rewritten with what it still has to keep, once that is at most half of it. */
const largestFile = 8_388_608;

const lineOf = ({ number, at, event, json }: HeardEvent): string => `${JSON.stringify([number, at, event, json])}\n`;

/** The last line may be torn, if the process ended while it was written: its event was not acknowledged. */
const parseLine = (line: string): HeardEvent[] => {
  try {
    const [number, at, event, json] = JSON.parse(line) as [number, number, string, string];
    return [{ number, at, event, json }];
  } catch {
    return [];
  }
};

/** Whole lines only: what follows the last line break is torn. */
const readEvents = (path: string): HeardEvent[] => {
  const lines = readFileSync(path, { encoding: "utf8", flag: "a+" }).split("\n");
  return lines.slice(0, -1).flatMap(parseLine);
};

/**
 * The journal of one folder, `webhooks.journal`. What is appended is with the operating system when `append` returns, so it survives
 * the end of the process without a wait for the disk; a moment later it is in the store. Only one process may have a folder's journal.
 * @throws PorticoError STORE_DAMAGED
 */
export const openEventJournal = (dataDir: string): EventJournal => {
  const path = resolve(dataDir, "webhooks.journal");
  let kept: HeardEvent[] = [];
  let file: number;
  /** Bytes of the file, and of what it still has to keep. */
  let [size, keptSize] = [0, 0];

  /**
   * Rewrites the file with only what is still to be kept, as a torn end would spoil the next line, and opens it. If that fails, all stays
   * as it was.
   */
  const rewrite = (): number => {
    const text = kept.map(lineOf).join("");
    writeFileSync(`${path}.new`, "");
    // Before anything is in it: events may hold what only the host knows.
    keepFromOthers(`${path}.new`);
    writeFileSync(`${path}.new`, text);
    const rewritten = openSync(`${path}.new`, "a");
    renameSync(`${path}.new`, path);
    size = keptSize = Buffer.byteLength(text);
    return rewritten;
  };

  try {
    makeFolder(dataDir);
    kept = readEvents(path);
    file = rewrite();
  } catch (cause) {
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  }

  const shrink = (): void => {
    if (kept.length === 0) {
      ftruncateSync(file);
      size = keptSize = 0;
    } else if (size > largestFile && size >= keptSize * 2) {
      const old = file;
      file = rewrite();
      closeSync(old);
    }
  };

  return {
    append: (event) => {
      const bytes = Buffer.from(lineOf(event));
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      } catch (error) {
        // The part of it that a full disk has taken would spoil the next line.
        ftruncateSync(file, size);
        throw error;
      }
      size += bytes.length;
      keptSize += bytes.length;
      kept.push(event);
    },
    kept: () => kept,
    forget: (number) => {
      const first = kept.findIndex((event) => event.number > number);
      const forgotten = kept.splice(0, first === -1 ? kept.length : first);
      if (forgotten.length === 0) return;
      for (const event of forgotten) keptSize -= Buffer.byteLength(lineOf(event));
      shrink();
    },
    close: () => closeSync(file),
  };
};
