import type { BlockData } from "../../types/events.js";
import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Network } from "../../types/node-context.js";
import { createSampleChain, type SampleChain } from "./sample-chain.js";

/** An adapter under test, and how its chain is moved. */
export interface ConformanceSubject {
  adapter: ChainAdapter;
  /** Puts one more block on the tip. Without it the cases in which the chain moves on are skipped. */
  apply?(block: BlockData): MaybePromise<void>;
  /** Takes the tip out. Without it the cases in which the chain is taken back are skipped. */
  revert?(block: BlockData): MaybePromise<void>;
  /** Lets go of everything that `createAdapter` opened. */
  close?(): MaybePromise<void>;
}

/** What an implementer hands in. */
export interface ConformanceTarget {
  /** Makes an adapter that is started and has applied all of `blocks`, genesis first. Called several times; each is closed. */
  createAdapter(chain: { network: Network; blocks: readonly BlockData[] }): MaybePromise<ConformanceSubject>;
}

/** Thrown to leave a case that the adapter has no part for. */
export class Skipped extends Error {}

/** What a case works with. */
export interface Bench {
  readonly chain: SampleChain;
  /** A snapshot of the whole chain, released when `read` is done with it. The adapter is shared with the other cases. */
  reading<T>(read: (snapshot: ChainSnapshot) => Promise<T>): Promise<T>;
  /** An adapter of the case's own, with these blocks. Closed after the case. */
  open(blocks: readonly BlockData[]): Promise<ConformanceSubject>;
  /** Leaves the case when the adapter says that it does not offer the part. */
  needs(part: "locks" | "rounds" | "feeStatistics"): Promise<void>;
  /** Whether the adapter offers the part. */
  offers(part: "locks" | "rounds" | "feeStatistics"): Promise<boolean>;
}

/** @throws Error when there is no state. */
export const snapshotOf = async ({ adapter }: ConformanceSubject): Promise<ChainSnapshot> => {
  const snapshot = await adapter.snapshot();
  if (snapshot === undefined) throw new Error("the adapter has applied blocks and gives no snapshot");
  return snapshot;
};

/** Reads one snapshot and releases it. */
export const readingOf = async <T>(subject: ConformanceSubject, read: (snapshot: ChainSnapshot) => Promise<T>): Promise<T> => {
  const snapshot = await snapshotOf(subject);
  try {
    return await read(snapshot);
  } finally {
    snapshot.release?.();
  }
};

export interface Benches {
  /** Runs a case on a bench, and closes what the case opened. */
  on(run: (bench: Bench) => Promise<void>): Promise<void>;
  /** Closes the shared adapter. */
  close(): Promise<void>;
}

export const createBenches = (target: ConformanceTarget): Benches => {
  const chain = createSampleChain();
  let shared: Promise<ConformanceSubject> | undefined;
  const open = async (blocks: readonly BlockData[]): Promise<ConformanceSubject> =>
    target.createAdapter({ network: chain.network, blocks });
  const whole = (): Promise<ConformanceSubject> => (shared ??= open(chain.blocks));

  const on: Benches["on"] = async (run) => {
    const opened: ConformanceSubject[] = [];
    const offers: Bench["offers"] = async (part) => (await whole()).adapter.supports?.[part] ?? true;
    try {
      await run({
        chain,
        reading: async (read) => readingOf(await whole(), read),
        open: async (blocks) => {
          const subject = await open(blocks);
          opened.push(subject);
          return subject;
        },
        offers,
        needs: async (part) => {
          if (!(await offers(part))) throw new Skipped(`the adapter does not offer ${part}`);
        },
      });
    } finally {
      for (const subject of opened) await subject.close?.();
    }
  };

  return {
    on,
    close: async () => {
      const subject = await shared;
      shared = undefined;
      await subject?.close?.();
    },
  };
};
