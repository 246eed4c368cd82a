import type { Network } from "../../../types/node-context.js";
import { createChainRules } from "../../chain/rules.js";
import { messageOf } from "../../errors.js";
import { takeBack, type TakenBack } from "./take-back.js";

/**
 * A process of its own that takes a copy of the store back to a height. LMDB ends the process where it finds its list of free pages damaged:
 * that must not be the node's.
 */

export interface CopyTask {
  /** Folder of the copy. */
  folder: string;
  /** Folder of the result. */
  result: string;
  height: number;
  network: Network;
  undoBlocks: number;
}

export type CopyAnswer = { copy: TakenBack | undefined } | { error: string };

process.once("message", (task: CopyTask) => {
  const answer = (message: CopyAnswer): void => void process.send?.(message, () => process.disconnect());
  takeBack(task, createChainRules(task.network)).then(
    (copy) => answer({ copy }),
    (error: unknown) => answer({ error: messageOf(error) }),
  );
});
