import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import type { After } from "../../async/clock.js";
import { cursorText, type Follow, type Group } from "../../follow/index.js";
import { createPatternWorker, type PatternWorker } from "../conditions/pattern.js";
import type { Standstill } from "../failures.js";
import { createObserver, type RecentEvents } from "../register/dry-run.js";
import type { LedgerEntry, Position } from "../rows/rows.js";
import {
  blockName,
  changedBlock,
  finalInLog,
  heightOf,
  isReverted,
  type GroupMatch,
  matchAlone,
  matchFirst,
  type ReadRange,
  samePosition,
  withoutLog,
} from "./match.js";
import {
  type Cohort,
  createPositions,
  isNotReady,
  isUnknown,
  type PositionsNeeds,
  type Reader,
  type ReaderPositions,
} from "./positions.js";
import { createRounds } from "./rounds.js";
import type { Positions, Recorder } from "./write-deliveries.js";

type FinalAt = Positions["finalAt"];

export interface ReaderNeeds extends PositionsNeeds {
  recorder: Recorder;
  recent: RecentEvents;
  after: After;
  logger: Logger;
  standstill: Standstill;
}

/**
 * Reads the chain for the webhooks: from each one's cursor, those at the same position together. What matches is written as deliveries; a
 * webhook that has `window` of them open waits until some are settled.
 */
export interface ChainReader {
  start(): void;
  /** Webhooks have more room than before. */
  hasRoom(): void;
  /** Resolves when all have seen what there is, or wait for room. */
  settled(): Promise<void>;
  /** Takes the positions as they are in the store now. */
  reload(webhookId: number): void;
  positions: Pick<ReaderPositions, "keep" | "keepOne" | "hasMoved">;
  stop(): Promise<void>;
}

/** What the parts of the reader use of the whole. */
interface Life {
  isRunning(): boolean;
  failed(error: unknown): void;
  wake(): void;
}

/** The group that comes next after a block, without events of the host; undefined at the tip. */
const groupAfter = async (follow: Follow, block: string): Promise<Group | undefined> => {
  const reading = { hostEvents: false };
  const [group] = (await follow.after(await follow.locate(block, reading), { ...reading, limit: 1 })).groups;
  return group;
};

/** The reversal of a block, if the chain has lost that. @throws PorticoError CURSOR_UNKNOWN */
const reversalOf = async (follow: Follow, block: string): Promise<Group | undefined> => {
  const group = await groupAfter(follow, block);
  return group !== undefined && isReverted(group) ? group : undefined;
};

/** The rest of a group of which a part is taken; undefined where the chain has gone another way. */
const readPart = async (follow: Follow, position: Position): Promise<ReadRange | undefined> => {
  const { part, cursor } = position;
  if (part === undefined) return undefined;
  const reversal = await reversalOf(follow, part.block);
  if (reversal !== undefined) return { groups: [reversal], position, taken: part.isReversal ? part.taken : 0 };
  if (part.isReversal) return undefined;
  const group = await groupAfter(follow, withoutLog(cursor));
  return group !== undefined && changedBlock(group) === part.block ? { groups: [group], position, taken: part.taken } : undefined;
};

interface ReadResult extends ReadRange {
  /** Whether nothing more comes for now; of a replay: nothing up to its last height. */
  atEnd: boolean;
}

/** A replay sends applied blocks alone. If only reversals come next, it goes on after them. */
const replayed = ({ groups, atEnd, position, taken }: ReadResult, until: number): ReadResult => {
  const wanted = groups.filter(({ change }) => change?.kind === "applied" && change.full.block.height <= until);
  const last = groups.at(-1);
  const isOver = last !== undefined && !isReverted(last) && wanted.at(-1) !== last;
  const from = wanted.length === 0 && last !== undefined && !isOver ? { cursor: cursorText(last.after) } : position;
  return { groups: wanted, atEnd: atEnd || isOver, position: from, taken };
};

/** Reads for a cohort, as far as one reading goes. @throws PorticoError as `Follow` does */
const read = async (follow: Follow, { position, options, until }: Cohort): Promise<ReadResult> => {
  const rest = await readPart(follow, position);
  if (rest !== undefined) return { ...rest, atEnd: false };
  const { groups, atEnd } = await follow.after(await follow.locate(position.cursor), options);
  const reading = { groups, atEnd: atEnd || groups.length === 0, position: { cursor: position.cursor }, taken: 0 };
  return until === undefined ? reading : replayed(reading, until);
};

/** Takes the webhooks of a cohort through the groups that come next. */
const createTake = ({ register, recorder }: ReaderNeeds, positions: ReaderPositions, patterns: PatternWorker, life: Life) => {
  /** Work for webhooks that wait for the pattern thread. */
  const alone = new Set<Promise<void>>();
  const { isCurrent, put } = positions;

  const write = async (readers: Cohort["readers"], all: readonly GroupMatch[], isOnRequest: boolean, finalAt: FinalAt): Promise<void> => {
    const full = await recorder.record(all, readers, { isOnRequest, finalAt, isCurrent, put });
    for (const [id, reader] of readers) {
      const stopped = full.get(id);
      positions.move(reader, stopped ?? all.at(-1)?.after ?? reader.position);
      if (stopped !== undefined) reader.isFull = true;
    }
  };

  /** Takes one webhook by itself while the pattern thread tries its patterns on a long text. The others go on. */
  const takeAlone = (reader: Reader, matched: GroupMatch, finalAt: FinalAt): void => {
    const id = reader.webhookId;
    reader.isBusy = true;
    const work = (async () => {
      const own = await matchAlone(register, matched, { id, patterns, isOver: () => reader.isGone });
      const present = positions.present(new Map([[id, reader]]), matched.before);
      if (!life.isRunning() || own === undefined || present.size === 0) return;
      try {
        await write(present, [own], reader.role !== "live", finalAt);
      } catch (error) {
        // Perhaps nothing was written: its position is read from the store again.
        positions.drop(id);
        throw error;
      }
    })()
      .finally(() => {
        reader.isBusy = false;
        alone.delete(work);
      })
      .then(life.wake, life.failed);
    alone.add(work);
  };

  /** Matches and writes a range of groups, some at a time. Returns the position after them, or undefined if the reader was stopped. */
  const take = async (cohort: Cohort, { groups, position, taken, isOffCursor }: ReadRange, finalAt: FinalAt): Promise<Position | undefined> => {
    // The rest of a partly taken group is no longer on the chain.
    if (!samePosition(cohort.position, position)) for (const reader of cohort.readers.values()) positions.move(reader, position);
    let next: ReadRange = { groups, position, taken, isOffCursor };
    while (next.groups.length > 0) {
      if (!life.isRunning()) return undefined;
      const at = next.position;
      const present = positions.present(cohort.readers, at);
      for (const [id, { isBusy }] of present) if (isBusy) present.delete(id);
      const { all, undecided } = await matchFirst(register, next, present);
      const last = all.at(-1);
      // Never so: of some groups, one at least is matched.
      if (last === undefined) return at;
      const waiting = [...undecided.keys()].flatMap((id) => present.get(id) ?? []);
      for (const { webhookId } of waiting) present.delete(webhookId);
      await write(present, all, cohort.role !== "live", finalAt);
      for (const reader of waiting) takeAlone(reader, last, finalAt);
      next = { groups: next.groups.slice(all.length), position: last.after, taken: 0 };
    }
    return next.position;
  };

  return { take, alone };
};

/** The walk from the top of a ledger down to the chain. */
const createWalk = ({ follow, recorder, store, logger }: ReaderNeeds, positions: ReaderPositions) => {
  const forget = async (reader: Reader, entry: LedgerEntry): Promise<void> => {
    const id = reader.webhookId;
    logger.warn(`webhooks: webhook ${id} gets no reversal of block ${blockName(entry)}, which is no longer kept`);
    await store.transactionSoon(() => {
      if (positions.isCurrent(reader)) store.removeLedgerEntry(id, entry);
    });
  };

  /** The highest block of the ledger that the chain has lost, and its reversal. */
  const highestLost = async (reader: Reader): Promise<{ height: number; reversal: Group } | undefined> => {
    for (const entry of recorder.appliedBlocks(reader.webhookId)) {
      try {
        const reversal = await reversalOf(follow, blockName(entry));
        if (reversal !== undefined) return { height: entry.height, reversal };
      } catch (error) {
        if (!isUnknown(error)) throw error;
        // A chain that is being imported again will reach it.
        if (((await follow.height()) ?? 0) < entry.height) throw new PorticoError("NOT_READY");
        await forget(reader, entry);
      }
    }
    return undefined;
  };

  /**
   * What is read for a webhook whose ledger may have blocks beside the cursor's block and its ancestors: reversals one by one, the highest
   * first. `reading`: what comes next at its position.
   */
  return async (reader: Reader, reading: ReadResult): Promise<ReadResult> => {
    const [next] = reading.groups;
    const reverted = next !== undefined && isReverted(next) ? next : undefined;
    const lost = await highestLost(reader);
    // The position's own block is reverted in its turn, and stays the last that is.
    if (lost !== undefined && (reverted === undefined || heightOf(changedBlock(reverted) ?? "") < lost.height)) {
      return { groups: [lost.reversal], position: reading.position, taken: 0, isOffCursor: true, atEnd: false };
    }
    if (reverted !== undefined) return { ...reading, groups: [reverted], atEnd: false };
    const [top] = recorder.appliedBlocks(reader.webhookId);
    if (top === undefined || top.height <= heightOf(reading.position.cursor)) Object.assign(reader, { ledgerMayBeOffChain: false, isDirty: true });
    return reading;
  };
};

/** Handles a failed read: the webhooks get another position, wait for the chain, or fail. */
const createRecover =
  ({ store, follow, logger }: ReaderNeeds, positions: ReaderPositions) =>
  async ({ readers, role, position, options }: Cohort, error: unknown): Promise<"moved" | "waiting" | "failed"> => {
    const drop = (): void => readers.forEach((_, id) => positions.drop(id));
    if (!isUnknown(error)) {
      drop();
      return isNotReady(error) ? "waiting" : "failed";
    }
    const named = heightOf(position.cursor);
    // A chain that is being imported again will reach it.
    if (((await follow.height()) ?? 0) < named) return "waiting";
    // The cursor's block is unknown: go on from the last final block, which no fork reaches. A replay goes on from its height.
    const last = await follow.tip(role === "live" ? { ...options, confirmations: "final" } : options);
    const cursor = cursorText(last.block === undefined || named >= last.block.height ? last : await follow.locate(String(named), options));
    const what = role === "live" ? "" : "a replay of ";
    for (const id of readers.keys()) {
      const why = `the block of its cursor, ${position.cursor}, is neither on the chain nor kept`;
      logger.warn(`webhooks: ${what}webhook ${id} continues from ${cursor}, because ${why}`);
    }
    await store.transactionSoon(() => {
      for (const [id, reader] of readers) {
        positions.put(reader, { cursor });
        if (role === "live" && !reader.isGone) store.putProgress(id, { ...store.progress(id), replays: [], isBeyond: true });
      }
    });
    drop();
    return "moved";
  };

const genesisHeight = 1;

/** One round reads once for every cohort. Returns whether any was read for. */
const createRound = (
  needs: ReaderNeeds,
  positions: ReaderPositions,
  { isRunning, failed, take }: Life & Pick<ReturnType<typeof createTake>, "take">,
) => {
  const { follow, keepsChain } = needs;
  const observe = createObserver(needs, isRunning);
  const walk = createWalk(needs, positions);
  const recover = createRecover(needs, positions);

  const finalFor = async ({ ledgerMayBeOffChain, position }: Cohort): Promise<FinalAt> => {
    const lowest = keepsChain ? genesisHeight : finalInLog(position.cursor);
    // Trim nothing above genesis: the walk still needs the lower blocks.
    if (!keepsChain || ledgerMayBeOffChain) return () => ({ applied: lowest, reverted: lowest });
    const final = (await follow.tip({ confirmations: "final", hostEvents: false })).block?.height ?? 0;
    const finality = Math.max(0, ((await follow.height()) ?? 0) - final);
    // Nothing above the position: blocks that were reverted there are applied again only with the groups to come, final as they may be.
    // Their transactions may come in later ones: for as long as at the tip.
    return ({ cursor }) => ({ applied: Math.min(final, heightOf(cursor)), reverted: Math.min(final, heightOf(cursor) - finality) });
  };

  /** A replay stays behind the live position, so that it overtakes nothing. Undefined while it has nothing to read up to there. */
  const upToSeen = async (cohort: Cohort): Promise<{ cohort: Cohort; isHeldBack: boolean } | undefined> => {
    const [reader] = cohort.readers.values();
    const seen = reader && positions.liveOf(reader);
    if (seen === undefined || (await reversalOf(follow, withoutLog(seen.cursor))) !== undefined) return undefined;
    const until = Math.min(cohort.until ?? 0, heightOf(seen.cursor));
    const isHeldBack = until < (cohort.until ?? 0);
    if (isHeldBack && heightOf(cohort.position.cursor) >= until) return undefined; // waits for the live cursor
    return { cohort: { ...cohort, until }, isHeldBack };
  };

  /** Takes the webhooks of a cohort through one read. Returns whether there was anything to do. */
  const step = async (from: Cohort): Promise<boolean> => {
    const upTo = from.role === "live" ? { cohort: from, isHeldBack: false } : await upToSeen(from);
    if (upTo === undefined) return false;
    const { cohort, isHeldBack } = upTo;
    const [reader] = cohort.readers.values();
    positions.beginRead(cohort);
    const next = await read(follow, cohort);
    const finalAt = await finalFor(cohort);
    // After the reading: what is on the chain now was on it then.
    const reading = cohort.ledgerMayBeOffChain && reader !== undefined ? await walk(reader, next) : next;
    const at = await take(cohort, reading, finalAt);
    positions.endRead(cohort, reading.atEnd ? at : undefined, !isHeldBack);
    return true;
  };

  return async (): Promise<boolean> => {
    let hasRead = false;
    await Promise.all([positions.loadMissing(), observe()]);
    for (const cohort of positions.cohorts()) {
      if (!isRunning()) return false;
      try {
        if (await step(cohort)) hasRead = true;
      } catch (error) {
        const outcome = await recover(cohort, error);
        if (outcome === "moved") hasRead = true;
        if (outcome === "failed") failed(error);
      }
      await nextTurn();
    }
    return hasRead;
  };
};

export const createChainReader = (needs: ReaderNeeds): ChainReader => {
  const { follow } = needs;
  const positions = createPositions(needs);
  const patterns = createPatternWorker();
  let state: "idle" | "running" | "stopped" = "idle";
  let unwatch: (() => void) | undefined;
  const isRunning = (): boolean => state === "running";
  const rounds = createRounds(needs, { isRunning, round: () => round(), isBusy: () => alone.size > 0 });
  const { wake } = rounds;
  const life: Life = { isRunning, failed: rounds.failed, wake };
  const { take, alone } = createTake(needs, positions, patterns, life);
  const round = createRound(needs, positions, { ...life, take });

  return {
    start: () => {
      state = "running";
      unwatch = follow.watch(() => {
        positions.stir();
        wake();
      });
      wake();
    },
    hasRoom: wake,
    settled: async () => {
      positions.stir();
      wake();
      while (state === "running" && (rounds.going() !== undefined || alone.size > 0)) await Promise.all([rounds.going(), ...alone]);
    },
    reload: (webhookId) => {
      positions.drop(webhookId);
      wake();
    },
    positions,
    stop: async () => {
      state = "stopped";
      unwatch?.();
      rounds.stop();
      await patterns.close();
      await Promise.all([rounds.going(), ...alone]);
    },
  };
};
