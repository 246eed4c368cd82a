import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runSliced, type Sliced } from "../../async/time-slicing.js";
import type { ChainRules } from "../../chain/rules.js";
import { createWriteLog } from "../layout/write-log.js";
import { type Environment, openEnvironment } from "../lmdb/environment.js";
import { createReading } from "../lmdb/reading.js";
import { readFullBlock, transactionsOfBlock } from "../records/records.js";
import { createFreshReads } from "../write/batch/fresh-read.js";
import { createWriteBatch } from "../write/batch/write-batch.js";
import { createWriter } from "../write/writer.js";
import type { Tip } from "../../../types/chain.js";

/** A store that is being served and written. */
interface ReindexedStore {
  readonly environment: Environment;
  oldest(): Pick<Tip, "height" | "id"> | undefined;
  extendHistory(oldest: Pick<Tip, "height" | "id">, rows: Iterable<[key: Buffer, value: Buffer]>): Promise<boolean>;
}

export interface ReindexNeeds {
  store: ReindexedStore;
  rules: ChainRules;
  dataDir: string;
  /** As the store's option. */
  undoBlocks: number;
  /** Ends it; what it has done is done again by the next one. */
  signal?: AbortSignal | undefined;
  /** Told of the height reached, and of the one that is to be reached. */
  onProgress?: ((height: number, of: number) => void) | undefined;
}

/** Transactions applied between two commits, at the least. */
const batchTransactions = 500;

type Row = [key: Buffer, value: Buffer];

/** Blocks from a height on, until they have so many transactions. */
const batchOf = (environment: Environment, from: number, to: number) => {
  environment.root.resetReadTxn();
  const reading = createReading(environment);
  const blocks = [];
  for (let [height, count] = [from, 0]; height <= to && count < batchTransactions; height++) {
    blocks.push(readFullBlock(reading, height));
    count += transactionsOfBlock(reading, height).count + 1;
  }
  return blocks;
};

/**
 * Gives a store the history that it lacks, from its own blocks, while it serves and grows. They are applied once more from genesis, in a
 * small store of its own beside it, which has nothing but what the next blocks need; of that, the rows of history go into the store. They
 * are not read before they are whole: the last of them are written together with the note that they are. Resolves with whether the store
 * has the whole history now.
 */
export const reindexHistory = async (needs: ReindexNeeds): Promise<boolean> => {
  const { store } = needs;
  for (;;) {
    const oldest = store.oldest();
    if (oldest === undefined) return false;
    if (oldest.height <= 1) return true;
    const rest = await replay(oldest.height, needs);
    if (rest === undefined) return false;
    // The chain may have left that block meanwhile: then it begins again, from another one.
    if (await store.extendHistory(oldest, rest)) return true;
  }
};

/** Applies the blocks up to a height. Returns the rows of those that may still be reverted, which are not written; undefined if it was ended. */
const replay = async (to: number, { store: { environment }, rules, dataDir, undoBlocks, signal, onProgress }: ReindexNeeds): Promise<Row[] | undefined> => {
  const folder = join(dataDir, "history-being-made");
  rmSync(folder, { recursive: true, force: true });
  const draft = openEnvironment(folder, rules.network.network.nethash, { disposable: true });
  try {
    const pending = createWriteBatch(draft, createFreshReads(draft));
    let rows: Row[] = [];
    const writer = createWriter(pending, rules, { undoBlocks: 1, history: false, historyOnly: (key, value) => void rows.push([key, value]) });
    const kept: Row[] = [];
    for (let height = 1; height <= to; ) {
      if (signal?.aborted === true) return undefined;
      const blocks = batchOf(environment, height, to);
      const last = blocks.at(-1)?.block.height ?? to;
      rows = [];
      await runSliced(applied());
      await pending.commit();
      if (last <= to - undoBlocks) await commitRows(environment, rows);
      else for (const row of rows) kept.push(row);
      height = last + 1;
      onProgress?.(last, to);
      await nextTurn();
      function* applied(): Sliced<void> {
        yield* writer.apply(blocks, Infinity, () => undefined);
      }
    }
    return kept;
  } finally {
    await draft.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const commitRows = async (environment: Environment, rows: readonly Row[]): Promise<void> => {
  const log = createWriteLog();
  for (const [key, value] of rows) log.add("history", key, value);
  await environment.commit(log.bytes());
};
