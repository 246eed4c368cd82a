import type { Logger } from "../types/node-context.js";

/** A host's logger whose own failures end with it: a line that is lost keeps no block, delivery or reply from being written, and no host from running. */
export const quietLogger = (logger: Logger): Logger => {
  const to =
    (level: keyof Logger) =>
    (message: string): void => {
      try {
        logger[level](message);
      } catch {
        // There is nowhere to tell of it.
      }
    };
  return { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
};
