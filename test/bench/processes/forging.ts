import { setTimeout as delay } from "node:timers/promises";
import type { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../../types/events.js";
import type { ApiPlugin } from "../../../types/plugin.js";

/** Applies blocks beyond a store's end as a host does, and reverts them again. */
export const createForging = (events: EventEmitter, served: () => ApiPlugin) => {
  const held: BlockData[] = [];
  const applied: BlockData[] = [];

  const applyNext = async (): Promise<void> => {
    const block = held.shift();
    if (block === undefined) throw new Error("there is no block held any more");
    // Only the header is kept, to revert the block later: that takes next to no memory.
    applied.push({ ...block, transactions: undefined });
    events.emit("block.applied", block);
    await served().settled();
  };

  return {
    hold: (blocks: BlockData[]): void => void held.push(...blocks),
    /** Applies so many of those held, `interval` milliseconds apart. Returns the milliseconds that each took. */
    forge: async ({ blocks, interval }: { blocks: number; interval: number }): Promise<number[]> => {
      const spent: number[] = [];
      for (let count = 0; count < blocks; count++) {
        const begun = performance.now();
        await applyNext();
        spent.push(performance.now() - begun);
        await delay(Math.max(0, interval - (performance.now() - begun)));
      }
      return spent;
    },
    /** Reverts all that were applied. */
    takeOut: async (): Promise<void> => {
      held.length = 0;
      for (let block = applied.pop(); block !== undefined; block = applied.pop()) {
        events.emit("block.reverted", block);
        await served().settled();
      }
    },
  };
};
