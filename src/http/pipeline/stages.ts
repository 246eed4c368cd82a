import { isPromised } from "../../async/maybe-promise.js";
import type { MaybePromise } from "../../../types/chain-adapter.js";

/** A part of the work on an item. It must not throw or reject. */
export type Stage<Item> = (item: Item) => MaybePromise<void>;

/** Takes an item through the stages from `from` on, synchronously as far as nothing has to be awaited. */
export const runStages = <Item>(stages: readonly Stage<Item>[], item: Item, from = 0): MaybePromise<void> => {
  for (const [index, stage] of stages.entries()) {
    if (index < from) continue;
    const done = stage(item);
    if (isPromised(done)) return done.then(() => runStages(stages, item, index + 1));
  }
};

/** Takes each item through the stages by itself, as soon as it comes. */
export const oneByOne = <Item>(stages: readonly Stage<Item>[]): ((item: Item) => void) => (item) => void runStages(stages, item);
