import { setTimeout as delay } from "node:timers/promises";

/** Waits for so many milliseconds, or until the signal is aborted. Keeps no process alive. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<unknown> => delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
