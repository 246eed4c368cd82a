import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";

/** Asks one thing of the state of now, and lets go of it, as a request does. */
export const askOnce = async <T>(chain: ChainAdapter, ask: (snapshot: ChainSnapshot) => MaybePromise<T>): Promise<T> => {
  const snapshot = await chain.snapshot();
  if (snapshot === undefined) throw new Error("the chain answers nothing yet");
  try {
    return await ask(snapshot);
  } finally {
    snapshot.release?.();
  }
};

/** Microseconds that an answer takes, with the answer. */
export const timeOnce = async <T>(chain: ChainAdapter, ask: (snapshot: ChainSnapshot) => MaybePromise<T>): Promise<{ spent: number; answer: T }> => {
  const begun = performance.now();
  const answer = await askOnce(chain, ask);
  return { spent: (performance.now() - begun) * 1_000, answer };
};
