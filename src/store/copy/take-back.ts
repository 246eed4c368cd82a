import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainRules } from "../../chain/rules.js";
import { runSliced } from "../../async/time-slicing.js";
import { databases } from "../layout/keys.js";
import { type Environment, openEnvironment } from "../lmdb/environment.js";
import { createReading } from "../lmdb/reading.js";
import { transact } from "../lmdb/transact.js";
import { readState } from "../records/records.js";
import { createFreshReads } from "../write/batch/fresh-read.js";
import { readDigest } from "../write/state-digest.js";
import { hasUndo } from "../write/batch/undo.js";
import { createWriteBatch } from "../write/batch/write-batch.js";
import { createWriter } from "../write/writer.js";

export interface TakenBack {
  height: number;
  id: string;
  /** 64 hex digits. */
  digest: string;
}

const raw = { keyEncoding: "binary", encoding: "binary" } as const;
/** Entries written in one transaction. */
const together = 5_000;

/**
 * Copies what is the chain's, entry by entry, into a new store: neither webhooks nor what else shares the file, nor what is left of them on
 * pages that are not used any more. LMDB's own compact copy does not bear being written: its list of free pages is damaged.
 */
const copyChain = async (from: Environment, to: Environment): Promise<void> => {
  for (const name of Object.keys(databases)) {
    const [source, target] = [from, to].map(({ root }) => root.openDB<Buffer, Buffer>({ name, ...raw }));
    const entries = source?.getRange({})[Symbol.iterator]();
    for (let more = entries !== undefined; more; await nextTurn()) {
      transact(to, () => {
        for (let count = 0; more && count < together; count++) {
          const step = entries?.next();
          if (step === undefined || step.done === true) more = false;
          else target?.putSync(Buffer.from(step.value.key), Buffer.from(step.value.value));
        }
      });
    }
  }
};

/** Takes the store in a folder back to a height, and copies what is the chain's into a store in the folder `result`. Undefined if it cannot be taken back that far. */
export const takeBack = async ({ folder, result, height, undoBlocks }: { folder: string; result: string; height: number; undoBlocks: number }, rules: ChainRules): Promise<TakenBack | undefined> => {
  const environment = openEnvironment(folder, rules.network.network.nethash);
  try {
    const batch = createWriteBatch(environment, createFreshReads(environment));
    const writer = createWriter(batch, rules, { undoBlocks, history: true });
    for (;;) {
      const tip = readState(batch)?.tip;
      if (tip === undefined || tip.height < height) return undefined;
      if (tip.height === height) break;
      if (!hasUndo(createReading(environment), tip.height)) return undefined;
      writer.revert();
      await nextTurn();
    }
    await runSliced(writer.completeDigest(), "cooperative");
    await batch.commit();
    environment.root.resetReadTxn();
    const reading = createReading(environment);
    const tip = readState(reading)?.tip;
    const digest = tip && readDigest(reading, tip);
    if (tip === undefined || digest === undefined) return undefined;
    const target = openEnvironment(result, rules.network.network.nethash);
    try {
      await copyChain(environment, target);
    } finally {
      await target.close();
    }
    return { height: tip.height, id: tip.id, digest: digest.toString("hex") };
  } finally {
    await environment.close();
  }
};
