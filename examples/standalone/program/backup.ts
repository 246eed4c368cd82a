import { backUp } from "portico";
import type { Logger } from "../../../types/node-context.js";
import { HostError, messageOf } from "./host-error.js";

/** Makes `to` a copy of a data folder. @throws HostError */
export const copyInto = async (dataDir: string, to: string, logger: Pick<Logger, "info">): Promise<void> => {
  try {
    const files = await backUp({ dataDir, to });
    logger.info(`${to} is a copy of ${dataDir}: ${files.join(", ")}. Start from it with --data-dir ${to}.`);
  } catch (error) {
    throw new HostError(`${dataDir} could not be copied to ${to}: ${messageOf(error)}.`, { cause: error });
  }
};
