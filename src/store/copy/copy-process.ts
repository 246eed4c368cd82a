import { answerTask } from "../../async/background-process.js";
import { createChainRules } from "../../chain/rules.js";
import type { Network } from "../../../types/node-context.js";
import { copyChainAt, type CopiedState, type CopyPlan } from "./copy-chain.js";

// The program that copies a store as it was at a height. It takes minutes, of a core too; and LMDB ends the process where it finds a file
// damaged: that must not be the node's.

export interface CopyTask extends CopyPlan {
  network: Network;
}

/** Null: it cannot be taken back that far. */
export type CopyResult = CopiedState | null;

answerTask(async ({ network, ...plan }: CopyTask): Promise<CopyResult> => (await copyChainAt(plan, createChainRules(network))) ?? null);
