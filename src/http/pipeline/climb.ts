import type { MaybePromise } from "../../../types/chain-adapter.js";
import { isPromised } from "../../async/maybe-promise.js";
import { metered } from "../../async/work-meter.js";
import type { Scope } from "../route.js";
import type { RequestContext } from "./request-context.js";

/** A rung of the ladder. It may make the reply, or throw: an error is a reply, too. */
export type Step<State extends Scope> = (context: RequestContext<State>) => MaybePromise<void>;

/** Takes one step after another, until there is a reply; synchronously as far as nothing has to be awaited. `fail` makes the reply of an error. */
export const createClimb = <State extends Scope>(fail: (context: RequestContext<State>, error: unknown) => void) => {
  const go = (context: RequestContext<State>, steps: readonly Step<State>[]): MaybePromise<void> => {
    for (const [index, step] of steps.entries()) {
      if (context.reply !== undefined) return;
      try {
        const done = step(context);
        if (isPromised(done)) {
          return Promise.resolve(done).then(
            () => climb(context, steps.slice(index + 1)),
            (error: unknown) => fail(context, error),
          );
        }
      } catch (error) {
        fail(context, error);
      }
    }
  };
  const climb = (context: RequestContext<State>, steps: readonly Step<State>[]): MaybePromise<void> => metered(context, () => go(context, steps));
  return climb;
};

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
