import { setTimeout as delay } from "node:timers/promises";
import type { Tip } from "../../../types/chain.js";
import type { BlockData, HostEvents } from "../../../types/events.js";
import { parseBlockHeader } from "../../chain/block.js";
import { closeAll } from "../../async/close-all.js";
import { PorticoError } from "../../errors.js";
import { rebuildText } from "../state/rebuild.js";
import { type CatchingUpNeeds, createCatchingUp } from "./catch-up.js";
import { createRetrying } from "./retry.js";
import { runsOf } from "./runs.js";

export interface FollowerNeeds extends CatchingUpNeeds {
  /** Is told how long each block of the host's took to be written, in milliseconds. */
  onWritten?: ((milliseconds: number) => void) | undefined;
  events: HostEvents;
  /** Milliseconds between two comparisons of the tip with the block source. */
  lookInterval?: number;
}

export type Standing = "catching up" | "behind the host" | "diverged";

/** Keeps the store at the host's tip. */
export interface Follower {
  /**
   * Writes genesis into an empty store and reads what is missing from the block source. Resolves when the store can answer: if it was
   * complete before, as soon as its tip has been compared with the source, but after two seconds in any case; else when it has reached the
   * end of the source.
   * @throws PorticoError when the first reading of the chain fails; the store keeps every good block before the failure.
   */
  start(): Promise<void>;
  /** Resolves when all that the host has emitted so far is written, or could not be. */
  settled(): Promise<void>;
  /** Why a block cannot be written at present; undefined if nothing is wrong. */
  problem(): string | undefined;
  /** How the store stands to the host's chain, if it is not at its tip and that is more than a moment's lag. */
  standing(): Standing | undefined;
  /** Whether the store is complete. */
  isReady(): boolean;
  /** That the store is being rebuilt, why, and how far it is; undefined unless it is. */
  rebuilding(): string | undefined;
  stop(): Promise<void>;
}

/** Milliseconds that `start` waits for the source: one that does not answer must not keep the node from serving. */
const patience = 2_000;

export const createFollower = ({ events, lookInterval = 5_000, ...needs }: FollowerNeeds): Follower => {
  const { store, source, logger } = needs;
  const { begin, catchUp, look, takeOutUnsaved, applyRun, takeOut, checkRewards, idAt, compared, shrunkTo, target, stop } = createCatchingUp(needs);
  let queue: Promise<void> = Promise.resolve();
  /** How many things wait in it. */
  let waiting = 0;
  let stopped = false;
  /** What the host applied last: until the store has it, the store is behind, or on another branch. */
  let awaited: Tip | undefined;
  let looking: NodeJS.Timeout | undefined;
  /** Blocks of the turn that was queued last, until it begins: what the host applies meanwhile joins them. */
  let gathered: BlockData[] | undefined;
  const retrying = createRetrying(() => enqueue(caughtUp), logger, store.environment.writes);

  /** `work` returns whether the store is where the host is. */
  const attempt = (work: () => Promise<boolean>): Promise<void> =>
    retrying.attempt(async () => {
      const isThere = await work();
      if (!stopped) checkRewards();
      requireAwaited();
      requireWholeSource();
      return isThere;
    });

  /** One thing at a time, in order of arrival. */
  const inTurn = (work: () => Promise<void>): void => {
    waiting++;
    queue = queue.then(work).finally(() => waiting--);
  };

  const enqueue = (work: () => Promise<boolean>): void => inTurn(() => attempt(work));

  /** Work of `start`, whose caller waits for it and is told if it fails. */
  const atFirst = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(async () => {
      if (!stopped) await work();
    });
    inTurn(() => done.catch(() => undefined));
    return done;
  };

  const caughtUp = async (): Promise<boolean> => {
    await catchUp();
    return true;
  };

  /** Those of a run are written together, or one after another: each counts with its share. */
  const timed = async (run: readonly BlockData[]): Promise<boolean> => {
    const begun = performance.now();
    const lackedAny = await applyRun(run);
    const each = (performance.now() - begun) / run.length;
    if (lackedAny) run.forEach(() => needs.onWritten?.(each));
    return lackedAny;
  };

  const onApplied = (payload?: unknown): void => {
    const data = payload as BlockData;
    if (gathered !== undefined) return void gathered.push(data);
    const blocks = (gathered = [data]);
    inTurn(async () => {
      if (gathered === blocks) gathered = undefined;
      for (const run of runsOf(blocks)) {
        await attempt(() => {
          awaited = parseBlockHeader(run.at(-1));
          // A run that the store has already shows nothing: the host may be repeating itself.
          return timed(run);
        });
      }
    });
  };

  const requireAwaited = (): void => {
    if (stopped || awaited === undefined) return;
    const id = idAt(awaited.height);
    if (id !== awaited.id) throw missing(awaited, id);
    awaited = undefined;
  };

  const missing = ({ height, id }: Tip, other: string | undefined): PorticoError => {
    const named = `block ${height} (${id})`;
    if (other !== undefined) return new PorticoError("BLOCK_DOES_NOT_CHAIN", `the host has applied ${named}, but the store has another there (${other})`);
    return new PorticoError(
      "BLOCK_DOES_NOT_CHAIN",
      source === undefined
        ? `${named} does not follow the tip, or came without its transactions, and there is no block source to ask`
        : `the block source does not have ${named}, which the host has applied`,
    );
  };

  /** A database that was rolled back, or is read anew: the host will have these blocks again, or others. Until then the store keeps them. */
  const requireWholeSource = (): void => {
    const end = shrunkTo();
    if (stopped || end === undefined) return;
    throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `the block source ends at height ${end}, but had the store's blocks above it before: was the host's database rolled back?`);
  };

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

  /** Looks only when nothing else is under way or due: that would find the same. */
  const lookSoon = (): void => {
    if (waiting === 0 && !retrying.isDue()) enqueue(look);
  };

  const standing = (): Standing | undefined => {
    const height = store.tip()?.height ?? 0;
    if (retrying.problem() === undefined) return (target() ?? 0) > height + 1 ? "catching up" : undefined;
    const id = awaited === undefined ? undefined : idAt(awaited.height);
    return (id !== undefined && id !== awaited?.id) || shrunkTo() !== undefined ? "diverged" : "behind the host";
  };

  return {
    standing,
    start: async () => {
      events.on("block.applied", onApplied);
      events.on("block.reverted", onReverted);
      await atFirst(begin);
      if (source !== undefined) looking = setInterval(lookSoon, lookInterval).unref();
      if (!store.isComplete()) return atFirst(catchUp);
      enqueue(async () => {
        await takeOutUnsaved();
        return caughtUp();
      });
      await Promise.race([compared, queue, delay(patience, undefined, { ref: false })]);
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
    rebuilding: () => {
      const rebuild = store.rebuilding();
      return rebuild && rebuildText(rebuild, target());
    },
    stop: async () => {
      stopped = true;
      stop();
      clearInterval(looking);
      retrying.stop();
      await closeAll(
        () => events.off("block.applied", onApplied),
        () => events.off("block.reverted", onReverted),
        () => queue,
      );
    },
  };
};
