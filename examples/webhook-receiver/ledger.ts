import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { type Bookings, createBookings } from "./bookings.js";

/** What a node told of blocks and transactions, kept in a file; and what comes of it. */
export interface Ledger {
  readonly bookings: Bookings;
  /** Books a delivery. When it returns, the file has it. Returns false for one that came before. */
  take(id: string, body: string): boolean;
}

interface Delivery {
  event: string;
  data: { id?: string } | null;
}

/** The lines that were written whole: the last one may have been cut off when the process was killed. */
const linesOf = (path: string): string[] => {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf("\n") + 1;
  if (end < bytes.length) truncateSync(path, end);
  return bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
};

/** The whole line, or nothing: what a full disk has taken of it would spoil the next one. */
const append = (path: string, line: string): void => {
  const size = existsSync(path) ? statSync(path).size : 0;
  try {
    appendFileSync(path, line, { flush: true });
  } catch (error) {
    if (existsSync(path)) truncateSync(path, size);
    throw error;
  }
};

export const openLedger = (path: string): Ledger => {
  const bookings = createBookings();
  const known = new Set<string>();
  /** The last word on each block and transaction: whether it is on the chain. The same may be said twice, under two ids. */
  const onChain = new Map<string, boolean>();

  const book = (id: string, body: string): void => {
    known.add(id);
    const { event, data } = JSON.parse(body) as Delivery;
    const [kind = "", what] = event.split(".");
    if (!["block", "transaction"].includes(kind) || (what !== "applied" && what !== "reverted")) return;
    const subject = `${kind} ${data?.id ?? ""}`;
    const isOnChain = what === "applied";
    if ((onChain.get(subject) ?? false) === isOnChain) return;
    onChain.set(subject, isOnChain);
    bookings.book(event, data);
  };

  for (const line of linesOf(path)) {
    const [id, body] = JSON.parse(line) as [string, string];
    book(id, body);
  }
  return {
    bookings,
    take: (id, body) => {
      if (known.has(id)) return false;
      append(path, `${JSON.stringify([id, body])}\n`);
      book(id, body);
      return true;
    },
  };
};
