import { setTimeout as sleep } from "node:timers/promises";
import type { ChainAdapter, ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Clock, Logger } from "../../../types/node-context.js";
import type { BlockLog } from "../files/block-log.js";
import type { BlockMaker } from "./block-maker.js";
import { blockData, type SignedBlock } from "./crypto.js";
import { announceApplied, announceForged, announceRound, type HostEmitter } from "./host-events.js";
import { messageOf } from "../program/host-error.js";
import type { Pool } from "./pool.js";

export interface Forger {
  /** Forges until `stop`. */
  start(): void;
  /** Resolves when the block being made, if there is one, is done. */
  stop(): Promise<void>;
}

export interface ForgerNeeds {
  maker: BlockMaker;
  chain: ChainAdapter;
  log: BlockLog;
  pool: Pool;
  events: HostEmitter;
  logger: Logger;
  clock: Required<Clock>;
  /** Milliseconds since 1970 at which the network's time begins. */
  epoch: number;
  /** Resolves when the follower of the chain has processed, or failed to process, everything announced so far. */
  settled(): Promise<void>;
}

/** Milliseconds between two checks whether the chain has a block that it did not take at once. */
const lookEvery = 50;
/** Milliseconds of waiting for such a block after which it is logged. */
const patience = 5_000;

/** `interval`: milliseconds from one block to the next; by default, blocks follow the network's clock. */
export const createForger = ({ interval }: { interval?: number }, { maker, chain, log, pool, events, logger, clock, epoch, settled }: ForgerNeeds): Forger => {
  const ending = new AbortController();
  const { signal } = ending;
  let running: Promise<void> | undefined;

  const pause = (milliseconds: number): Promise<void> => sleep(milliseconds, undefined, { signal }).catch(() => undefined);

  const withSnapshot = async <T>(work: (snapshot: ChainSnapshot) => Promise<T>): Promise<T | undefined> => {
    const snapshot = await chain.snapshot();
    if (snapshot === undefined) return undefined;
    try {
      return await work(snapshot);
    } finally {
      snapshot.release?.();
    }
  };

  const tipHeight = async (): Promise<number> => (await withSnapshot(async ({ tip }) => Promise.resolve(tip.height))) ?? 0;

  /** Waits until the chain has a block, on whose state the next one builds; false if stopped first. */
  const untilApplied = async (height: number): Promise<boolean> => {
    const asked = clock.monotonic();
    let said = false;
    await settled();
    while ((await tipHeight()) < height) {
      if (signal.aborted) return false;
      if (!said && clock.monotonic() - asked > patience) {
        said = true;
        logger.warn(`Block ${height} was forged, but the store does not have it yet; forging waits.`);
      }
      await pause(lookEvery);
    }
    return true;
  };

  const report = (block: SignedBlock, username: string, took: number): void => {
    const { height, id, numberOfTransactions } = block.data;
    const count = `${numberOfTransactions} transaction${numberOfTransactions === 1 ? "" : "s"}`;
    logger.info(`block ${height}  ${String(id)}  by ${username}  ${count}  ${took} ms`);
  };

  const announceNextRound = async (height: number): Promise<void> => {
    const { round, begins } = maker.nextRound(height);
    const delegates = begins ? await withSnapshot(async (snapshot) => snapshot.round(round)) : undefined;
    if (delegates !== undefined) announceRound(events, round, delegates);
  };

  /** Forges one block, and waits until the chain has it; false if it is not this node's turn. */
  const forgeOne = async (): Promise<boolean> => {
    const began = clock.monotonic();
    const forged = await withSnapshot(async (snapshot) => {
      const turn = await maker.turn(snapshot, Math.floor((clock.now() - epoch) / 1000), interval !== undefined);
      return turn === undefined ? undefined : { username: turn.username, block: await maker.make(snapshot, turn) };
    });
    if (forged === undefined) return false;
    const { block, username } = forged;
    // Appended to the block log first, so that a block is never announced and then lost.
    log.append(blockData(block));
    report(block, username, Math.round(clock.monotonic() - began));
    announceForged(events, block);
    announceApplied(events, block);
    if (!(await untilApplied(block.data.height))) return true;
    await pool.settle(block);
    await announceNextRound(block.data.height);
    return true;
  };

  /** Milliseconds to the next slot of the network's clock. */
  const untilNextSlot = async (): Promise<number> => {
    const now = clock.now() - epoch;
    const next = async (state?: ChainSnapshot): Promise<number> => 1000 * (await maker.nextSlot(state, now / 1000)) - now;
    // A chain that cannot be read is reported when the next block is to be forged.
    return (await withSnapshot(next).catch(() => undefined)) ?? next();
  };

  const reportFailure = (error: unknown): void => {
    logger.error(`No block was forged: ${messageOf(error)}`);
    events.emit("forger.failed", { error: messageOf(error) });
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const began = clock.monotonic();
      await forgeOne().catch(reportFailure);
      await pause(interval === undefined ? await untilNextSlot() : Math.max(0, interval - (clock.monotonic() - began)));
    }
  };

  const announceStart = async (): Promise<void> => {
    const delegates = await withSnapshot(async (snapshot) => snapshot.round(maker.nextRound(snapshot.tip.height).round));
    events.emit("forger.started", { activeDelegates: (delegates ?? []).map(({ publicKey }) => publicKey) });
  };

  return {
    start: () => {
      running ??= announceStart().catch(reportFailure).then(run);
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
};
