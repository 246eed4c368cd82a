import { setTimeout as delay } from "node:timers/promises";

/** Asks again and again until there is an answer; the test's time limit ends it. */
export const until = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    await delay(20);
  }
};
