import { setTimeout as pause } from "node:timers/promises";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { BlockData, TransactionData } from "portico";

/** What a node tells of a block that it applied or reverted: first of the block, then of its transactions. */
export type Told = [{ event: string; data: BlockData }, ...{ event: string; data: TransactionData }[]];

const names = "block.applied,block.reverted,transaction.applied,transaction.reverted";

/**
 * Blocks applied and reverted after a cursor, each with the cursor after it, for ever. A node that has no answer is asked again after
 * `retryAfter` milliseconds. @throws Error if the node refuses the cursor
 */
export async function* follow(api: string, cursor: string, signal: AbortSignal, retryAfter = 1_000): AsyncGenerator<{ told: Told; cursor: string }> {
  for (;; await pause(retryAfter, undefined, { signal }).catch(() => undefined)) {
    try {
      const { body, status } = await fetch(`${api}/events?event=${names}&after=${cursor}`, { signal });
      if (status === 429 || status >= 500) continue;
      if (status !== 200 || body === null) throw new Error(`status ${status}`);
      let events: unknown[] = [];
      for await (const { data, id } of body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())) {
        events.push(JSON.parse(data));
        // Only the last event of a block has an id: after a lost connection, a block that was cut off comes again as a whole.
        if (id === undefined) continue;
        cursor = id;
        yield { told: events as Told, cursor };
        events = [];
      }
    } catch (error) {
      if (signal.aborted) return;
      // So fetch says that it has no connection, or lost it: the node is asked again.
      if (!(error instanceof TypeError)) throw error;
    }
  }
}
