import type { Logger } from "../../../types/node-context.js";
import { retrying } from "../../async/retrying.js";
import type { FullClock } from "../../async/clock.js";
import { messageOf, PorticoError } from "../../errors.js";

const isInUse = (error: unknown): boolean => error instanceof PorticoError && error.code === "STORE_IN_USE";

interface WhenFreeNeeds {
  logger: Logger;
  clock: FullClock;
  signal?: AbortSignal;
}

/** Opens a store, after a wait if the process that writes it is just ending. Undefined if the signal is aborted meanwhile. @throws as `open` */
export const whenFree = async <T>(open: () => T, { logger, clock, signal }: WhenFreeNeeds): Promise<T | undefined> => {
  try {
    return await retrying(open, { isTransient: isInUse, onWait: (error) => logger.info(`waiting: ${messageOf(error)}`), now: clock.monotonic, signal });
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
};
