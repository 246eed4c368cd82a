import { AsyncResource } from "node:async_hooks";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { isPromised } from "../../async/maybe-promise.js";
import type { Stage } from "../pipeline/handler.js";

/** For the tests, all of which also pass with it off: batches change nothing but the speed. */
export const batching = { isOn: true };

/** Takes an item through the stages from `from` on, synchronously as far as nothing has to be awaited. */
const runStages = <Item>(stages: readonly Stage<Item>[], item: Item, from = 0): MaybePromise<void> => {
  for (const [index, stage] of stages.entries()) {
    if (index < from) continue;
    const done = stage(item);
    if (isPromised(done)) return done.then(() => runStages(stages, item, index + 1));
  }
};

/** Takes each item through the stages by itself, as soon as it comes. */
export const oneByOne = <Item>(stages: readonly Stage<Item>[]): ((item: Item) => void) => (item) => void runStages(stages, item);

/** Items in a batch at the most: enough for the gain, and few enough that the first one does not wait long for the last one. */
const largest = 32;

/** An item, and the asynchronous context in which it came. */
class Waiting<Item> extends AsyncResource {
  readonly item: Item;

  constructor(item: Item) {
    super("PorticoRequest");
    this.item = item;
  }
}

/**
 * Returns a function that takes an item through the stages. Items that come within one turn of the event loop go through them in batches,
 * each stage for all of a batch before the next: done one by one, an item finds the processor's caches full of what other stages needed,
 * and takes about 1.5 times as long. An item for which something has to be awaited goes on alone.
 */
export const createBatches = <Item>(stages: readonly Stage<Item>[]): ((item: Item) => void) => {
  const waiting: Waiting<Item>[] = [];

  /** Whether the item goes on to the next stage with its batch. */
  const passes = ({ item }: Waiting<Item>, at: number): boolean => {
    try {
      const done = stages[at]?.(item);
      if (!isPromised(done)) return true;
      void done.then(() => runStages(stages, item, at + 1));
    } catch (error) {
      // A stage that throws is a mistake of ours, which is not to hold up the others of the batch.
      queueMicrotask(() => {
        throw error;
      });
    }
    return false;
  };

  const run = (): void => {
    let batch = waiting.splice(0, largest);
    for (const at of stages.keys()) {
      batch = batch.filter((one) => one.runInAsyncScope(passes, undefined, one, at));
    }
  };

  return (item) => {
    // All batches of a turn follow one another before anything else is received: servers end connections whose clients have ended theirs.
    if (waiting.length % largest === 0) {
      setImmediate(run);
    }
    waiting.push(new Waiting(item));
  };
};
