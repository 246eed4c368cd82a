import type { Logger } from "../../types/node-context.js";
import { HostGivenUp, messageOf, PorticoError } from "../errors.js";
import type { Problems } from "../operate/problems.js";

/** Whether whoever notices it logs it, once: the store cannot be written or has no state yet, or the node stops without its host. */
const isReportedElsewhere = (error: unknown): boolean =>
  error instanceof HostGivenUp || (error instanceof PorticoError && (error.code === "STORE_UNWRITABLE" || error.code === "NOT_READY"));

export const logFailure = (logger: Logger, what: string, error: unknown): void => {
  if (!isReportedElsewhere(error)) logger.error(`webhooks: ${what}: ${messageOf(error)}`);
};

/** Work that is tried again until it succeeds. While it fails, health says so; the log, when that begins and when it ends. */
export interface Standstill {
  failed(what: string, error: unknown): void;
  succeeded(what: string): void;
}

export const createStandstill = (problems: Pick<Problems, "define">): Standstill => {
  const problem = problems.define({ begun: "webhooks are stalled", ended: "webhooks work again" });
  return {
    failed: (what, error) => {
      if (!isReportedElsewhere(error)) problem.begin(`${what}: ${messageOf(error)}`, what);
    },
    succeeded: (what) => problem.end(what),
  };
};
