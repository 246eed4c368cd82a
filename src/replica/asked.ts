import { messageOf } from "../errors.js";
import type { LastKnown } from "./last-known.js";

/** An answer of the node that is asked for again when it has become old; while the node is away, the last one holds. */
export interface Asked<T> {
  get(): Promise<T>;
  /** The next `get` asks the node, even while an earlier question is under way. */
  forget(): void;
}

interface AskedNeeds<T> {
  name: string;
  /** Asks the node. */
  ask(): Promise<T>;
  /** Where there has been no answer yet. */
  otherwise?: T;
  lastKnown: LastKnown;
  /** Whether there is any use in asking. */
  isReachable(): boolean;
  /** Milliseconds, by a clock that is never set. */
  now(): number;
  /** Milliseconds for which an answer is taken to be true. */
  goodFor: number;
}

export const createAsked = <T>({ name, ask, otherwise, lastKnown, isReachable, now, goodFor }: AskedNeeds<T>): Asked<T> => {
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;
  let failure: string | undefined;
  /** Questions asked, and the one whose answer is kept: an older one may be answered later. */
  let [asks, kept] = [0, 0];

  const renew = async (): Promise<void> => {
    const own = ++asks;
    try {
      const answer = await ask();
      if (own > kept) lastKnown.put(name, answer);
      kept = Math.max(own, kept);
      failure = undefined;
    } catch (error) {
      failure = messageOf(error);
    }
    // One that was forgotten meanwhile is not taken to be new.
    if (own !== asks || asking === undefined) return;
    askedAt = now();
    asking = undefined;
  };

  return {
    get: async () => {
      if (isReachable() && now() - askedAt >= goodFor) await (asking ??= renew());
      const known = (lastKnown.get(name) as T | undefined) ?? otherwise;
      if (known === undefined) throw new Error(`the node has not said its ${name} yet: ${failure ?? "it is away"}`);
      return known;
    },
    forget: () => {
      askedAt = -Infinity;
      asking = undefined;
    },
  };
};
