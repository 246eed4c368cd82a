import { appendFileSync, closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Logger } from "../../../types/node-context.js";
import type { EventJournal, HeardEvent } from "../../../types/webhook-store.js";
import { messageOf, PorticoError } from "../../errors.js";
import { makeFolder } from "../../make-folder.js";
import { keepFromOthers } from "../lmdb/file-mode.js";
import { refusedBy } from "../lmdb/write-gate.js";
import { unwatched, type WriteWatch } from "../lmdb/write-watch.js";
import { readEvents } from "./journal-lines.js";

/** A file that has grown beyond this (bytes) is rewritten with what it still has to keep, once that is at most half of it. */
const largestFile = 8_388_608;

const lineOf = ({ number, at, event, json }: HeardEvent): string => `${JSON.stringify([number, at, event, json])}\n`;

export interface JournalNeeds {
  /** Is told of lines that cannot be read. */
  logger?: Pick<Logger, "error">;
  writes?: WriteWatch;
  /** Of the file. Default: `webhooks.journal`. */
  name?: string;
}

/** Milliseconds until a journal that could not be written is tried again. */
const retryDelay = 1_000;

/** Sets lines that cannot be read aside, so that somebody can look at them, and says where. */
const setAside = (path: string, lines: readonly string[], logger: JournalNeeds["logger"]): void => {
  if (lines.length === 0) return;
  const file = `${path}.unreadable`;
  appendFileSync(file, "");
  keepFromOthers(file);
  appendFileSync(file, lines.map((line) => `${line}\n`).join(""));
  logger?.error(`webhooks: ${lines.length === 1 ? "an event" : `${lines.length} events`} in ${path} cannot be read: set aside in ${file}, and not delivered; the others are`);
};

/**
 * The journal of one folder, `webhooks.journal`. What is appended is with the operating system when `append` returns, so it survives
 * the end of the process without a wait for the disk; a moment later it is in the store. Only one process may have a folder's journal.
 * @throws PorticoError STORE_DAMAGED
 */
export const openEventJournal = (dataDir: string, { logger, writes = unwatched, name = "webhooks.journal" }: JournalNeeds = {}): EventJournal => {
  const path = resolve(dataDir, name);
  let kept: HeardEvent[] = [];
  let file: number;
  /** Bytes of the file, and of what it still has to keep. */
  let [size, keptSize] = [0, 0];
  /** Whether the file may end with a part of a line. */
  let isTorn = false;

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
    const found = readEvents(readFileSync(path, { encoding: "utf8", flag: "a+" }));
    setAside(path, found.unreadable, logger);
    kept = found.events;
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

  /** The part of a line that a full disk has taken would spoil the next line. */
  const takeBack = (): void => {
    try {
      ftruncateSync(file, size);
      isTorn = false;
    } catch {
      isTorn = true;
    }
  };

  const write = (bytes: Buffer): void => {
    if (isTorn) takeBack();
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    } catch (error) {
      retry ??= setInterval(tryAgain, retryDelay).unref();
      takeBack();
      throw writes.failed("events", refusedBy(error));
    }
    size += bytes.length;
    clearInterval(retry);
    retry = undefined;
    writes.succeeded("events");
  };

  let retry: NodeJS.Timeout | undefined;
  /** No event may come for long: what is wrong ends without. */
  const tryAgain = (): void => {
    try {
      write(Buffer.from("\n"));
    } catch {
      // The next try follows.
    }
  };

  return {
    append: (event) => {
      const bytes = Buffer.from(lineOf(event));
      write(bytes);
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
    close: () => {
      clearInterval(retry);
      closeSync(file);
    },
  };
};

/**
 * What an earlier version left in its journal of events for webhooks, above a number. Once all have been taken, the file is gone for good:
 * events are kept in the log of the host's events.
 */
export const takeOldJournal = (dataDir: string, above: number, needs: JournalNeeds): { events: HeardEvent[]; taken(): void } => {
  const path = resolve(dataDir, "webhooks.journal");
  if (!existsSync(path)) return { events: [], taken: () => undefined };
  const journal = openEventJournal(dataDir, needs);
  const events = journal.kept().filter(({ number }) => number > above);
  journal.close();
  return { events, taken: () => rmSync(path, { force: true }) };
};
