import type { Logger } from "../../types/node-context.js";
import { HostGivenUp, messageOf, PorticoError } from "../errors.js";

/** Logs what failed, unless that is logged once by whoever notices it: the store cannot be written, or the node stops without its host. */
export const logFailure = (logger: Logger, what: string, error: unknown): void => {
  if (error instanceof HostGivenUp || (error instanceof PorticoError && error.code === "STORE_UNWRITABLE")) return;
  logger.error(`webhooks: ${what}: ${messageOf(error)}`);
};
