import type { BlockData } from "../../types/events.js";
import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Network } from "../../types/node-context.js";
import { createSampleChain, type SampleChain } from "./chain/sample-chain.js";

/** An adapter under test, and the hooks that move its chain. */
export interface ConformanceSubject {
  adapter: ChainAdapter;
  /** Appends a block to the chain. Without it, the cases that move the chain forward are skipped. */
  apply?(block: BlockData): MaybePromise<void>;
  /** Removes the tip, which is `block`. Without it, the cases that move the chain back are skipped. */
  revert?(block: BlockData): MaybePromise<void>;
  /** Frees everything that `createAdapter` opened. */
  close?(): MaybePromise<void>;
}

/** What an implementer provides. */
export interface ConformanceTarget {
  /**
   * Creates and starts an adapter that has applied all of `blocks`, genesis first. Called several times; each subject is closed. Leave out
   * transaction types of your own: those of type group 2 in the suite's chain are nobody's, and cost their senders amount and fee.
   */
  createAdapter(chain: { network: Network; blocks: readonly BlockData[] }): MaybePromise<ConformanceSubject>;
}

/** Thrown to skip a case that the adapter does not support. */
export class Skipped extends Error {}

type Part = "locks" | "rounds" | "feeStatistics" | "delegateFigures";

/** What a case works with. */
export interface Fixture {
  readonly chain: SampleChain;
  /** Runs `read` on a snapshot of the whole chain, and releases that afterwards. The adapter is shared with other cases. */
  reading<T>(read: (snapshot: ChainSnapshot) => Promise<T>): Promise<T>;
  /** Opens an adapter for this case alone, with these blocks. Closed after the case. */
  open(blocks: readonly BlockData[]): Promise<ConformanceSubject>;
  /** Skips the case if the adapter does not support the part. */
  needs(part: Part): Promise<void>;
  /** Whether the adapter supports the part. */
  offers(part: Part): Promise<boolean>;
}

/** @throws Error if the adapter gives no snapshot */
export const snapshotOf = async ({ adapter }: ConformanceSubject): Promise<ChainSnapshot> => {
  const snapshot = await adapter.snapshot();
  if (snapshot === undefined) throw new Error("the adapter has applied blocks but gives no snapshot");
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

export interface Fixtures {
  /** Runs a case on a fixture, and closes what the case opened. */
  on(run: (fixture: Fixture) => Promise<void>): Promise<void>;
  /** Closes the shared adapter. */
  close(): Promise<void>;
}

export const createFixtures = (target: ConformanceTarget): Fixtures => {
  const chain = createSampleChain();
  let shared: Promise<ConformanceSubject> | undefined;
  const open = async (blocks: readonly BlockData[]): Promise<ConformanceSubject> =>
    target.createAdapter({ network: chain.network, blocks });
  const whole = (): Promise<ConformanceSubject> => (shared ??= open(chain.blocks));

  const on: Fixtures["on"] = async (run) => {
    const opened: ConformanceSubject[] = [];
    const offers: Fixture["offers"] = async (part) => (await whole()).adapter.supports?.[part] ?? true;
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

export interface CaseDefinition {
  name: string;
  /** Resolves if the adapter conforms. @throws AssertionError if it does not, Skipped if it does not support the part */
  run(fixture: Fixture): Promise<void>;
}
