import { answerTask } from "../../background-process.js";
import { createChainRules } from "../../chain/rules.js";
import type { Network } from "../../../types/node-context.js";
import { takeBack, type TakenBack } from "./take-back.js";

/**
 * The program that takes a copy of the store back to a height. LMDB ends the process where it finds its list of free pages damaged: that must
 * not be the node's.
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

/** Null: it cannot be taken back that far. */
export type CopyResult = TakenBack | null;

answerTask(async (task: CopyTask): Promise<CopyResult> => (await takeBack(task, createChainRules(task.network))) ?? null);
