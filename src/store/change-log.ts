import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FullBlock } from "../chain/block.js";
import { blockCodec, transactionCodec } from "./codec.js";
import type { Environment } from "./environment.js";
import { changeBounds, changeKey, numberAtEnd } from "./keys.js";
import type { Pending } from "./pending.js";
import { createReading } from "./reading.js";
import { readFullBlock } from "./records.js";
import { transact } from "./transact.js";

/** A block that the store has taken in, or out. */
export interface StoreChange {
  kind: "applied" | "reverted";
  full: FullBlock;
}

export interface ChangeListener {
  witness(change: StoreChange): void;
  /** What `witness` wrote is committed. */
  witnessed(): void;
}

/**
 * What happened to the chain and still has to be told of. It is written with the block itself: no change is lost when the process
 * ends between the two, and none is told of that was not committed.
 */
export interface ChangeLog {
  /** Notes a change in what is about to be written. */
  note(change: StoreChange): void;
  /**
   * Tells a listener of every change, in order, within the write transaction that takes it out of the log. Rejects with what the
   * listener throws; what that transaction was about stays in the log.
   */
  tell(listener: ChangeListener): Promise<void>;
}

/** Milliseconds that the process is kept from all else at a time. */
const turn = 10;

/** A block that is in the chain is named by its height; of one that is not any more the log has all there is. */
type Entry = ["applied", number] | ["reverted", unknown, unknown[]];

export const createChangeLog = (environment: Environment, pending: Pick<Pending, "put">): ChangeLog => {
  const { db } = environment;
  const committed = createReading(environment);
  let last = [...db.meta.getKeys(changeBounds())].map(numberAtEnd).at(-1) ?? 0;

  const changeOf = (entry: Entry): StoreChange => {
    if (entry[0] === "applied") return { kind: "applied", full: readFullBlock(committed, entry[1]) };
    const [kind, block, transactions] = entry;
    return { kind, full: { block: blockCodec.unpack(block as unknown[]), transactions: transactions.map((one) => transactionCodec.unpack(one as unknown[])) } };
  };

  const untold = () => [...db.meta.getRange(changeBounds())].map(({ key, value }) => ({ key: Buffer.from(key), entry: value as Entry }));

  return {
    note: ({ kind, full: { block, transactions } }) => {
      const entry: Entry = kind === "applied" ? [kind, block.height] : [kind, blockCodec.pack(block), transactions.map(transactionCodec.pack)];
      pending.put("meta", changeKey(++last), entry);
    },
    tell: async ({ witness, witnessed }) => {
      /** Returns how many it has told of. */
      const tellSome = (): number => {
        const begun = performance.now();
        let told = 0;
        for (const { key, entry } of untold()) {
          witness(changeOf(entry));
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
  };
};
