import { messageOf } from "../errors.js";
import type { LastKnown } from "./last-known.js";

/** An answer of the node that is asked for again when it has become old; while the node is away, the last one holds. */
export interface Asked<T> {
  get(): Promise<T>;
  /** The next `get` asks the node. */
  forget(): void;
}

export interface AskedNeeds<T> {
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

  const renew = async (): Promise<void> => {
    try {
      lastKnown.put(name, await ask());
      failure = undefined;
    } catch (error) {
      failure = messageOf(error);
    } finally {
      askedAt = now();
      asking = undefined;
    }
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
    },
  };
};
