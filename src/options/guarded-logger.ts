import type { Logger } from "../../types/node-context.js";

/** Wraps a host's logger so that nothing it throws gets out: a lost log line must not stop a block, a delivery, a reply or the host. */
export const quietLogger = (logger: Logger): Logger => {
  const to =
    (level: keyof Logger) =>
    (message: string): void => {
      try {
        logger[level](message);
      } catch {
        // There is nowhere left to report it.
      }
    };
  return { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
};

const silence = (): void => undefined;

/** What is logged where the host gives no logger. */
export const consoleLogger: Logger = {
  debug: silence,
  info: (message) => console.info(message),
  warn: (message) => console.warn(message),
  error: (message) => console.error(message),
};
