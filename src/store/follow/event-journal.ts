import { appendFileSync, closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Logger } from "../../../types/node-context.js";
import type { EventJournal, HeardEvent } from "../../../types/host-log.js";
import { messageOf, PorticoError } from "../../errors.js";
import { makeDataDir } from "../../files/make-folder.js";
import { keepFromOthers } from "../lmdb/open-file.js";
import { refusedBy } from "../lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../lmdb/environment.js";

/** A file that has grown beyond this (bytes) is rewritten with what it still has to keep, once that is at most half of it. */
const largestFile = 8_388_608;

/** What a journal has, in order, and the lines that are none of its own. */
interface JournalLines {
  events: HeardEvent[];
  unreadable: string[];
}

const isWholeNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isJson = (text: unknown): text is string => {
  try {
    return typeof text === "string" && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
};

const parseLine = (line: string): HeardEvent | undefined => {
  let parts: unknown;
  try {
    parts = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [number, at, event, json] = parts as unknown[];
  return isWholeNumber(number) && typeof at === "number" && typeof event === "string" && isJson(json)
    ? { number, at, event, json }
    : undefined;
};

/**
 * Reads a journal's text. Its last line may be torn, if the process ended while it was written: its event was not acknowledged. Numbers
 * ascend; one that is out of order would hide the events after it, which would be taken for recorded already.
 */
const readEvents = (text: string): JournalLines => {
  const found: JournalLines = { events: [], unreadable: [] };
  const lines = text.split("\n").slice(0, -1).filter((line) => line !== "");
  const parsed = lines.map(parseLine);
  for (const [i, line] of lines.entries()) {
    const event = parsed[i];
    const last = found.events.at(-1)?.number ?? -1;
    const next = parsed.slice(i + 1, i + 3).find((other) => other !== undefined && other.number > last)?.number ?? Infinity;
    if (event !== undefined && event.number > last && event.number < next) found.events.push(event);
    else found.unreadable.push(line);
  }
  return found;
};

const lineOf = ({ number, at, event, json }: HeardEvent): string => `${JSON.stringify([number, at, event, json])}\n`;

export interface JournalNeeds {
  /** Is told of lines that cannot be read. */
  logger?: Pick<Logger, "error">;
  writes?: WriteWatch;
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
  logger?.error(`webhooks: ${lines.length === 1 ? "an event" : `${lines.length} events`} in ${path} cannot be read and will not be delivered; kept in ${file}`);
};

/**
 * Writes a file anew with only what is still to be kept, as a torn end would spoil the next line, and opens it. If that fails, all stays
 * as it was.
 */
const writeAnew = (path: string, text: string): { file: number; size: number } => {
  writeFileSync(`${path}.new`, "");
  // Before anything is in it: events may hold what only the host knows.
  keepFromOthers(`${path}.new`);
  writeFileSync(`${path}.new`, text);
  const file = openSync(`${path}.new`, "a");
  renameSync(`${path}.new`, path);
  return { file, size: Buffer.byteLength(text) };
};

/** A file to which whole lines are appended. */
const openLines = (path: string, text: string, writes: WriteWatch) => {
  let { file, size } = writeAnew(path, text);
  /** Whether the file may end with a part of a line. */
  let isTorn = false;
  let retry: NodeJS.Timeout | undefined;

  /** The part of a line that a full disk has taken would spoil the next line. */
  const takeBack = (): void => {
    try {
      ftruncateSync(file, size);
      isTorn = false;
    } catch {
      isTorn = true;
    }
  };

  const append = (bytes: Buffer): void => {
    if (isTorn) takeBack();
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    } catch (error) {
      retry ??= setInterval(tryAgain, retryDelay).unref();
      takeBack();
      throw writes.failed("journal", refusedBy(error));
    }
    size += bytes.length;
    clearInterval(retry);
    retry = undefined;
    writes.succeeded("journal");
  };

  /** No event may come for long: what is wrong ends without. */
  const tryAgain = (): void => {
    try {
      append(Buffer.from("\n"));
    } catch {
      // The next try follows.
    }
  };

  return {
    size: () => size,
    append,
    empty: (): void => {
      ftruncateSync(file);
      size = 0;
    },
    replace: (kept: string): void => {
      const old = file;
      ({ file, size } = writeAnew(path, kept));
      closeSync(old);
    },
    close: (): void => {
      clearInterval(retry);
      closeSync(file);
    },
  };
};

/**
 * The journal of one folder, `host-events.journal`. What is appended is with the operating system when `append` returns, so it survives
 * the end of the process without a wait for the disk; a moment later it is in the store. Only one process may have a folder's journal.
 * @throws PorticoError STORE_DAMAGED
 */
export const openEventJournal = (dataDir: string, { logger, writes = unwatched }: JournalNeeds = {}): EventJournal => {
  const path = resolve(dataDir, "host-events.journal");
  let kept: HeardEvent[] = [];
  let lines: ReturnType<typeof openLines>;
  const text = (): string => kept.map(lineOf).join("");

  makeDataDir(dataDir);
  try {
    const found = readEvents(readFileSync(path, { encoding: "utf8", flag: "a+" }));
    setAside(path, found.unreadable, logger);
    kept = found.events;
    lines = openLines(path, text(), writes);
  } catch (cause) {
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  }

  /** Bytes that still have to be kept. */
  let keptSize = lines.size();

  const shrink = (): void => {
    if (kept.length === 0) lines.empty();
    else if (lines.size() > largestFile && lines.size() >= keptSize * 2) lines.replace(text());
    else return;
    keptSize = lines.size();
  };

  return {
    append: (event) => {
      const bytes = Buffer.from(lineOf(event));
      lines.append(bytes);
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
    close: lines.close,
  };
};
