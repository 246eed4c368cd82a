import { setTimeout as delay } from "node:timers/promises";
import type { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../../types/events.js";
import type { ApiPlugin } from "../../../types/node-context.js";
import { blockDataOf, createBenchChain } from "../chain/chain.js";
import { sizes, type SizeName } from "../chain/sizes.js";

/** Blocks beyond a store's end, put on it as a host does and taken out again. */
export const createForging = (events: EventEmitter, served: () => { plugin: ApiPlugin; size: SizeName }) => {
  const ready: BlockData[] = [];
  const applied: BlockData[] = [];

  const applyNext = async (): Promise<void> => {
    const block = ready.shift();
    if (block === undefined) throw new Error("there is no block prepared any more");
    events.emit("block.applied", block);
    applied.push(block);
    await served().plugin.settled();
  };

  return {
    /** Makes blocks, so that making them does not weigh on what is measured. */
    prepare: ({ blocks, transactions }: { blocks: number; transactions: number }): void => {
      const size = sizes[served().size];
      const chain = createBenchChain(size);
      chain.skipTo(size.blocks + 1);
      for (const { height } of applied) if (height >= chain.height) chain.next(transactions);
      while (ready.length < blocks) ready.push(blockDataOf(chain.next(transactions)));
    },
    /** Applies so many of them, `interval` milliseconds apart. Milliseconds that each took. */
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
    /** Takes out all that were applied. */
    takeOut: async (): Promise<void> => {
      ready.length = 0;
      for (let block = applied.pop(); block !== undefined; block = applied.pop()) {
        events.emit("block.reverted", block);
        await served().plugin.settled();
      }
    },
  };
};
