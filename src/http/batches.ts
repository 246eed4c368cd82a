import type { AsyncResource } from "node:async_hooks";

/** Collects items and works on several at a time. */
export interface Batches<Item> {
  /** The item joins the next batch. */
  add(item: Item): void;
  /** Number of items that wait for their batch. */
  readonly waiting: number;
}

/** Items in a batch at the most: enough for the gain, and few enough that the first one does not wait long for the last one. */
const largest = 32;

/**
 * Takes all items that are added within one turn of the event loop through the same stages: each stage for all of them before the next.
 * Done one by one, an item finds the processor's caches full of what other stages needed, and takes half as long again. Each stage
 * runs in the item's own asynchronous context, and must not throw.
 */
export const createBatches = <Item extends AsyncResource>(stages: readonly ((item: Item) => void)[]): Batches<Item> => {
  let waiting: Item[] = [];
  const run = (): void => {
    const batch = waiting.length <= largest ? waiting : waiting.slice(0, largest);
    waiting = waiting.slice(batch.length);
    if (waiting.length > 0) {
      setImmediate(run);
    }
    for (const stage of stages) {
      for (const item of batch) {
        item.runInAsyncScope(stage, undefined, item);
      }
    }
  };
  return {
    add: (item) => {
      waiting.push(item);
      if (waiting.length === 1) {
        setImmediate(run);
      }
    },
    get waiting() {
      return waiting.length;
    },
  };
};
