import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import type { Inbox } from "portico/receiver";

/** A booking, by its address and the id of its transaction or block, in 1e-8 of the token; 0 where it is reverted. */
export type Changes = [address: string, id: string, amount: bigint][];

/** Balances by address, and a file of the deliveries that they come from. */
export interface Ledger {
  readonly balances: ReadonlyMap<string, bigint>;
  /** Handlers add changes. When a delivery is answered, the file has them. */
  readonly inbox: Inbox<Changes>;
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
  const [balances, booked, handled] = [new Map<string, bigint>(), new Map<string, bigint>(), new Set<string>()];

  /** The last word on each booking counts: after a fork, the same may be said twice. */
  const take = (webhookId: string, changes: readonly (readonly [string, string, bigint | string])[]): void => {
    handled.add(webhookId);
    for (const [address, id, text] of changes) {
      const [name, amount] = [`${address} ${id}`, BigInt(text)];
      balances.set(address, (balances.get(address) ?? 0n) + amount - (booked.get(name) ?? 0n));
      booked.set(name, amount);
    }
  };

  for (const line of linesOf(path)) {
    const [id, ...changes] = JSON.parse(line) as [string, ...[string, string, string][]];
    take(id, changes);
  }
  return {
    balances,
    inbox: {
      // Handlers that do not wait are never under way twice.
      once: async (id, handle) => {
        if (handled.has(id)) return;
        const changes: Changes = [];
        await handle(changes);
        append(path, `${JSON.stringify([id, ...changes.map(([address, of, amount]) => [address, of, String(amount)])])}\n`);
        take(id, changes);
      },
    },
  };
};
