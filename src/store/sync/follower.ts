import type { Tip } from "../../../types/chain.js";
import type { BlockData, HostEvents } from "../../../types/events.js";
import { parseBlockHeader } from "../../chain/block.js";
import { endAll } from "../../async/close-all.js";
import { PorticoError } from "../../errors.js";
import { type CatchingUpNeeds, createCatchingUp, runsOf } from "./catch-up.js";
import { createRetrying } from "./retry.js";

export interface FollowerNeeds extends CatchingUpNeeds {
  events: HostEvents;
}

/** Keeps the store at the host's tip. */
export interface Follower {
  /**
   * Writes genesis into an empty store and reads what is missing from the block source. Resolves when the store can answer: at once if
   * it was complete before, else when it has reached the end of the source.
   * @throws PorticoError when the first reading of the chain fails; the store keeps every good block before the failure.
   */
  start(): Promise<void>;
  /** Resolves when all that the host has emitted so far is written, or could not be. */
  settled(): Promise<void>;
  /** Why a block cannot be written at present; undefined if nothing is wrong. */
  problem(): string | undefined;
  /** Whether the store has ever been complete. */
  isReady(): boolean;
  stop(): Promise<void>;
}

export const createFollower = ({ events, ...needs }: FollowerNeeds): Follower => {
  const { store, source, logger } = needs;
  const { begin, catchUp, takeOutUnsaved, applyRun, takeOut, stop } = createCatchingUp(needs);
  let queue: Promise<void> = Promise.resolve();
  let stopped = false;
  /** What the host applied last: until the store reaches its height, the store is behind. */
  let awaited: Tip | undefined;
  /** Blocks of the turn that was queued last, until it begins: what the host applies meanwhile joins them. */
  let gathered: BlockData[] | undefined;
  const retrying = createRetrying(() => enqueue(caughtUp), logger);

  /** `work` returns whether the store is where the host is. */
  const attempt = (work: () => Promise<boolean>): Promise<void> =>
    retrying.attempt(async () => {
      const isThere = await work();
      requireAwaited();
      return isThere;
    });

  /** One thing at a time, in order of arrival. */
  const enqueue = (work: () => Promise<boolean>): void => {
    queue = queue.then(() => attempt(work));
  };

  /** Work of `start`, whose caller waits for it and is told if it fails. */
  const atFirst = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(async () => {
      if (!stopped) await work();
    });
    queue = done.catch(() => undefined);
    return done;
  };

  const caughtUp = async (): Promise<boolean> => {
    await catchUp();
    return true;
  };

  const onApplied = (payload?: unknown): void => {
    const data = payload as BlockData;
    if (gathered !== undefined) return void gathered.push(data);
    const blocks = (gathered = [data]);
    queue = queue.then(async () => {
      if (gathered === blocks) gathered = undefined;
      for (const run of runsOf(blocks)) {
        await attempt(() => {
          awaited = parseBlockHeader(run.at(-1));
          // A run that the store has already shows nothing: the host may be repeating itself.
          return applyRun(run);
        });
      }
    });
  };

  const requireAwaited = (): void => {
    if (stopped || awaited === undefined) return;
    if ((store.tip()?.height ?? 0) < awaited.height) throw missing(awaited);
    awaited = undefined;
  };

  const missing = ({ height, id }: Tip): PorticoError =>
    new PorticoError(
      "BLOCK_DOES_NOT_CHAIN",
      source === undefined
        ? `block ${height} (${id}) does not follow the tip, or came without its transactions, and there is no block source to ask`
        : `the block source does not have block ${height} (${id}), which the host has applied`,
    );

  const onReverted = (payload?: unknown): void => {
    // What is applied from now on must not be written before this is reverted.
    gathered = undefined;
    enqueue(async () => {
      const block = parseBlockHeader(payload as BlockData);
      if (awaited !== undefined && awaited.height >= block.height) awaited = undefined;
      await takeOut(block);
      // Where the host is then is not known: its database may have the block for a moment longer.
      return false;
    });
  };

  return {
    start: async () => {
      events.on("block.applied", onApplied);
      events.on("block.reverted", onReverted);
      if (store.tip() === undefined) await atFirst(begin);
      if (store.isComplete()) {
        enqueue(async () => {
          await takeOutUnsaved();
          return caughtUp();
        });
        return;
      }
      await atFirst(catchUp);
      if (!stopped) store.markComplete();
    },
    settled: async () => {
      let last: Promise<void> | undefined;
      while (last !== queue) {
        last = queue;
        await last;
      }
    },
    problem: retrying.problem,
    isReady: () => store.isComplete(),
    stop: async () => {
      stopped = true;
      stop();
      retrying.stop();
      await endAll(
        () => events.off("block.applied", onApplied),
        () => events.off("block.reverted", onReverted),
        () => queue,
      );
    },
  };
};
