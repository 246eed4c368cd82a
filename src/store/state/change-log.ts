import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FullBlock } from "../../chain/blocks/block.js";
import { blockCodec, transactionCodec } from "../layout/block-codec.js";
import type { Environment } from "../lmdb/environment.js";
import { changeBounds, changeKey, numberAtEnd } from "../layout/keys.js";
import type { WriteBatch } from "../write/batch/write-batch.js";
import { createReading } from "../lmdb/reading.js";
import { readFullBlock } from "../records/records.js";
import { transact } from "../lmdb/transact.js";

/** A block that the store has applied or reverted. */
export interface StoreChange {
  kind: "applied" | "reverted";
  full: FullBlock;
}

export interface ChangeListener {
  witness(change: StoreChange): void;
  /** Called when what `witness` wrote is committed. */
  witnessed(): void;
}

/**
 * The changes of the chain that the listener has not been told of. A change is written in the same transaction as its block: none is
 * lost if the process ends before it is told, and none is told that was not committed.
 */
export interface ChangeLog {
  /** Adds a change to the pending writes. */
  note(change: StoreChange): void;
  /**
   * Tells a listener of every change, in order, within the write transaction that removes it from the log. Rejects with what the
   * listener throws; the changes of that transaction then stay in the log.
   */
  tell(listener: ChangeListener): Promise<void>;
  /** Height of the last block that was told, where there are changes that were not. */
  toldHeight(): number | undefined;
  /** Forgets every change: for a run that has no listener, in which blocks that the log names may be reverted. */
  clear(): void;
}

/** Milliseconds of work before yielding to the event loop. */
const turn = 10;

/** A block that is in the chain is named by its height; one that was reverted is kept here in full. */
type Entry = ["applied", number] | ["reverted", unknown, unknown[]];

export const createChangeLog = (environment: Environment, pending: Pick<WriteBatch, "put">): ChangeLog => {
  const { db } = environment;
  const committed = createReading(environment);
  /** Keys alone: entries may be whole blocks, of which one turn tells few. */
  const untold = (): Buffer[] => [...db.meta.getKeys(changeBounds())].map((key) => Buffer.from(key));
  let last = untold().map(numberAtEnd).at(-1) ?? 0;

  const changeOf = (entry: Entry): StoreChange => {
    if (entry[0] === "applied") return { kind: "applied", full: readFullBlock(committed, entry[1]) };
    const [kind, block, transactions] = entry;
    return { kind, full: { block: blockCodec.unpack(block as unknown[]), transactions: transactions.map((one) => transactionCodec.unpack(one as unknown[])) } };
  };

  return {
    note: ({ kind, full: { block, transactions } }) => {
      const entry: Entry = kind === "applied" ? [kind, block.height] : [kind, blockCodec.pack(block), transactions.map(transactionCodec.pack)];
      pending.put("meta", changeKey(++last), entry);
    },
    tell: async ({ witness, witnessed }) => {
      /** Returns how many changes it told. */
      const tellSome = (): number => {
        const begun = performance.now();
        let told = 0;
        for (const key of untold()) {
          witness(changeOf(db.meta.get(key) as Entry));
          db.meta.removeSync(key);
          told++;
          if (performance.now() - begun > turn) break;
        }
        return told;
      };
      while (transact(environment, tellSome) > 0) {
        witnessed();
        await nextTurn();
      }
    },
    toldHeight: () => {
      const heights = untold().map((key) => {
        const { kind, full } = changeOf(db.meta.get(key) as Entry);
        return kind === "applied" ? full.block.height - 1 : full.block.height;
      });
      return heights.length === 0 ? undefined : Math.min(...heights);
    },
    clear: () => {
      const keys = untold();
      if (keys.length > 0) transact(environment, () => keys.forEach((key) => db.meta.removeSync(key)));
    },
  };
};
