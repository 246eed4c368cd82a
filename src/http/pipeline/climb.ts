import { metered } from "../../async/work-meter.js";
import { isPromised } from "../../async/maybe-promise.js";
import type { MaybePromise } from "../../../types/chain-adapter.js";
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
