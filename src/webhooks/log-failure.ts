import type { Logger } from "../../types/node-context.js";
import { messageOf, PorticoError } from "../errors.js";

/** Logs what failed, unless it is that the store cannot be written: that lasts, and is logged by whoever keeps the store, once. */
export const logFailure = (logger: Logger, what: string, error: unknown): void => {
  if (error instanceof PorticoError && error.code === "STORE_UNWRITABLE") return;
  logger.error(`webhooks: ${what}: ${messageOf(error)}`);
};
