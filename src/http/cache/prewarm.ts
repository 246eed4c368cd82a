import { isPromised } from "../../async/maybe-promise.js";
import { atMost, runSliced, type Sliced } from "../../async/time-slicing.js";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Reply } from "../reply/reply.js";
import type { Scope } from "../route.js";
import type { CacheEntry, ResponseCache } from "./response-cache.js";

interface PrewarmNeeds<Request, State extends Scope> {
  cache: ResponseCache<Request>;
  ask(request: Request, state: State): MaybePromise<unknown>;
  write(request: Request, answer: unknown, state: State): Reply;
  release(state: State): void;
  /** Milliseconds of work for which a new state may be held back. */
  longest: number;
}

/**
 * Makes the function that computes, from a state that is about to become current, the replies that were asked for at the last one, and
 * releases the state. It resolves when that is done or its time is up.
 */
export const createPrewarm = <Request, State extends Scope>({ cache, ask, write, release, longest }: PrewarmNeeds<Request, State>) => {
  /** A pending answer is not waited for, and an error is left to the next request. */
  const prewarmOne = function* (entry: CacheEntry<Request>, state: State, tip: string, slow: Promise<void>[]): Sliced<void> {
    const { request, key } = entry;
    const keep = (reply: Reply): void => cache.keep(entry, tip, reply);
    try {
      const answer = ask(request, state);
      if (isPromised(answer)) {
        const reply = Promise.resolve(answer).then((late) => write(request, late, state));
        cache.share(key, tip, reply);
        slow.push(reply.then(keep, () => undefined));
        return;
      }
      yield;
      keep(write(request, answer, state));
    } catch {
      // as above
    }
  };

  const prewarmAll = function* (state: State, tip: string, slow: Promise<void>[]): Sliced<void> {
    for (const entry of cache.prepare(tip)) {
      yield* prewarmOne(entry, state, tip, slow);
      yield;
    }
  };

  return async (state: State): Promise<void> => {
    const slow: Promise<void>[] = [];
    try {
      if (state.tip !== undefined) {
        await runSliced(atMost(longest, prewarmAll(state, state.tip.id, slow)));
      }
    } finally {
      void Promise.all(slow).then(() => release(state));
    }
  };
};
