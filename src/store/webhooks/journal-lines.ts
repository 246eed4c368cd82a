import type { HeardEvent } from "../../../types/webhook-store.js";

/** What a journal has, in order, and the lines that are none of its own. */
export interface JournalLines {
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
  return isWholeNumber(number) && typeof at === "number" && typeof event === "string" && isJson(json) ? { number, at, event, json } : undefined;
};

/**
 * Reads a journal's text. Its last line may be torn, if the process ended while it was written: its event was not acknowledged. Numbers
 * ascend; one that is out of order would hide the events after it, which would be taken for recorded already.
 */
export const readEvents = (text: string): JournalLines => {
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
