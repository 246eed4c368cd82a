import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../../src/errors.js";
import { searchRows } from "../../../src/plugin/states.js";

/** Asks one thing of the current state, within the bounds of a request, and releases it as a request does. */
export const askOnce = async <T>(chain: ChainAdapter, ask: (snapshot: ChainSnapshot) => MaybePromise<T>): Promise<T> => {
  const snapshot = await chain.snapshot({ searchRows });
  if (snapshot === undefined) throw new Error("the chain answers nothing yet");
  try {
    return await ask(snapshot);
  } finally {
    snapshot.release?.();
  }
};

/** Microseconds that an answer takes, with the answer: undefined if the chain refuses to look at so many rows. */
export const timeOnce = async <T>(
  chain: ChainAdapter,
  ask: (snapshot: ChainSnapshot) => MaybePromise<T>,
): Promise<{ spent: number; answer: T | undefined }> => {
  const begun = performance.now();
  const answer = await askOnce(chain, ask).catch((error: unknown) => {
    if (error instanceof PorticoError && error.code === "SEARCH_TOO_WIDE") return undefined;
    throw error;
  });
  return { spent: (performance.now() - begun) * 1_000, answer };
};
