import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import { cursorText, type Follow, type Group } from "../../follow/index.js";
import { createPatternWorker, type PatternWorker } from "../conditions/pattern.js";
import { createRounds, type Standstill } from "../failures.js";
import { createObserver, type RecentEvents } from "../register/dry-run.js";
import type { LedgerEntry, Position } from "../rows/rows.js";
import type { After } from "../timekeeper.js";
import {
  blockName,
  blockOf,
  changedBlock,
  heightOf,
  isReverted,
  type GroupMatch,
  matchAlone,
  matchFirst,
  type ReadRange,
  samePosition,
} from "./match.js";
import { type Cohort, createPositions, isNotReady, isUnknown, type PositionsNeeds, type ReaderPositions } from "./positions.js";
import type { Recorder } from "./record.js";

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
  const group = await groupAfter(follow, blockOf(cursor));
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
  const isBeyond = last !== undefined && !isReverted(last) && wanted.at(-1) !== last;
  const from = wanted.length === 0 && last !== undefined && !isBeyond ? { cursor: cursorText(last.after) } : position;
  return { groups: wanted, atEnd: atEnd || isBeyond, position: from, taken };
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

  const write = async (cohort: Cohort, all: readonly GroupMatch[], ids: ReadonlySet<number>, end: Position, final: number): Promise<void> => {
    const full = await recorder.record(all, ids, {
      isCurrent: (id) => positions.isCurrent(cohort, id),
      isOnRequest: cohort.role !== "live",
      final,
      floorOf: (id) => positions.floorOf(cohort, id),
      hasReverted: (id) => positions.hasReverted(cohort, id),
      noteReverted: positions.noteReverted,
      put: (id, position, floor) => positions.put(cohort, id, position, floor),
    });
    for (const id of ids) {
      const position = full.get(id);
      if (position === undefined) positions.move(cohort, id, end);
      else positions.wait(cohort, id, position);
    }
  };

  /** Takes one webhook by itself while the pattern thread tries its patterns on a long text. The others go on. */
  const takeAlone = (cohort: Cohort, matched: GroupMatch, id: number, final: number): void => {
    positions.busy(cohort, id, true);
    const work = (async () => {
      const own = await matchAlone(register, matched, { id, patterns });
      if (!life.isRunning() || !positions.isAt(cohort, id, matched.before)) return;
      try {
        await write(cohort, [own], new Set([id]), matched.after, final);
      } catch (error) {
        // Perhaps nothing was written: its position is read from the store again.
        positions.drop(id);
        throw error;
      }
    })()
      .finally(() => {
        positions.busy(cohort, id, false);
        alone.delete(work);
      })
      .then(life.wake, life.failed);
    alone.add(work);
  };

  /** Matches and writes a range of groups, some at a time. Returns the position after them, or undefined if the reader was stopped. */
  const take = async (cohort: Cohort, { groups, position, taken, isApart }: ReadRange, final: number): Promise<Position | undefined> => {
    // The rest of a partly taken group is no longer on the chain.
    if (!samePosition(cohort.position, position)) for (const id of cohort.ids) positions.move(cohort, id, position);
    let next: ReadRange = { groups, position, taken, isApart };
    while (next.groups.length > 0) {
      if (!life.isRunning()) return undefined;
      const at = next.position;
      const present = positions.present(cohort, at);
      const { all, undecided } = await matchFirst(register, next, present);
      for (const id of undecided.keys()) present.delete(id);
      const last = all.at(-1);
      if (last === undefined) return at;
      await write(cohort, all, present, last.after, final);
      for (const id of undecided.keys()) takeAlone(cohort, last, id, final);
      next = { groups: next.groups.slice(all.length), position: last.after, taken: 0 };
    }
    return next.position;
  };

  return { take, alone };
};

/** The walk from the top of a ledger down to the chain. */
const createWalk = ({ follow, recorder, store, logger }: ReaderNeeds, positions: ReaderPositions) => {
  const forget = async (cohort: Cohort, entry: LedgerEntry): Promise<void> => {
    for (const id of cohort.ids) logger.warn(`webhooks: webhook ${id} is not told of what was reverted of block ${blockName(entry)}, which is no longer kept`);
    await store.transactionSoon(() => {
      for (const id of cohort.ids) if (positions.isCurrent(cohort, id)) store.removeLedgerEntry(id, entry);
    });
  };

  /** The highest block of the ledger that the chain has lost, and its reversal. */
  const highestLost = async (cohort: Cohort): Promise<{ entry: LedgerEntry; group: Group } | undefined> => {
    const [id = 0] = cohort.ids;
    for (const entry of recorder.standing(id)) {
      try {
        const group = await reversalOf(follow, blockName(entry));
        if (group !== undefined) return { entry, group };
      } catch (error) {
        if (!isUnknown(error)) throw error;
        // A chain that is being imported again will reach it.
        if (((await follow.height()) ?? 0) < entry.height) throw new PorticoError("NOT_READY");
        await forget(cohort, entry);
      }
    }
    return undefined;
  };

  const isOver = (cohort: Cohort): boolean => {
    const [id = 0] = cohort.ids;
    const [top] = recorder.standing(id);
    return top === undefined || top.height <= heightOf(cohort.position.cursor);
  };

  /** Takes back one block of the ledger that is not the position's own. Returns what is to be read instead; undefined if there is none. */
  return async (cohort: Cohort, reading: ReadRange): Promise<ReadRange | undefined> => {
    const lost = await highestLost(cohort);
    if (lost === undefined) {
      if (isOver(cohort) && !reading.groups.some(isReverted)) positions.endBeyond(cohort);
      return undefined;
    }
    const [first] = reading.groups;
    // The position's own block is reverted in its turn.
    if (first !== undefined && isReverted(first) && heightOf(changedBlock(first) ?? "") >= lost.entry.height) return undefined;
    return { groups: [lost.group], position: cohort.position, taken: 0, isApart: true };
  };
};

/** Handles a failed read: the webhooks get another position, wait for the chain, or fail. */
const createRecover =
  ({ store, follow, logger }: ReaderNeeds, positions: ReaderPositions) =>
  async (cohort: Cohort, error: unknown): Promise<"moved" | "waiting" | "failed"> => {
    if (isNotReady(error)) {
      for (const id of cohort.ids) positions.drop(id);
      return "waiting";
    }
    if (!(error instanceof PorticoError) || error.code !== "CURSOR_UNKNOWN") {
      for (const id of cohort.ids) positions.drop(id);
      return "failed";
    }
    const named = heightOf(cohort.position.cursor);
    // A chain that is being imported again will reach it.
    if (((await follow.height()) ?? 0) < named) {
      positions.rest(cohort, cohort.position, false);
      return "waiting";
    }
    // The cursor's block is unknown: go on from the last final block, which no fork reaches. A replay goes on from its height.
    const last = await follow.tip(cohort.role === "live" ? { ...cohort.options, confirmations: "final" } : cohort.options);
    const cursor = cursorText(last.block === undefined || named >= last.block.height ? last : await follow.locate(String(named), cohort.options));
    const what = cohort.role === "live" ? "" : "a replay of ";
    for (const id of cohort.ids) logger.warn(`webhooks: ${what}webhook ${id} goes on from ${cursor}: the block of its cursor, ${cohort.position.cursor}, is neither on the chain nor kept`);
    await store.transactionSoon(() => {
      for (const id of cohort.ids) positions.put(cohort, id, { cursor });
      for (const id of cohort.role === "live" ? cohort.ids : []) store.putProgress(id, { ...store.progress(id), replays: [], isBeyond: true });
    });
    for (const id of cohort.ids) positions.drop(id);
    return "moved";
  };

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

  const finalHeight = async (): Promise<number> => (keepsChain ? ((await follow.tip({ confirmations: "final", hostEvents: false })).block?.height ?? 0) : 0);

  /** A replay stays behind the live position, so that it overtakes nothing. Undefined while it has nothing to read up to there. */
  const upToSeen = async (cohort: Cohort): Promise<Cohort | undefined> => {
    const seen = positions.liveOf(cohort);
    if (seen === undefined || (await reversalOf(follow, blockOf(seen.cursor))) !== undefined) return undefined;
    const until = Math.min(cohort.until ?? 0, heightOf(seen.cursor));
    return heightOf(cohort.position.cursor) >= until && until !== cohort.until ? undefined : { ...cohort, until };
  };

  /** Takes the webhooks of a cohort through one read. Returns whether there was anything to do. */
  const step = async (from: Cohort): Promise<boolean> => {
    const cohort = from.role === "live" ? from : await upToSeen(from);
    if (cohort === undefined) return false;
    const reading = await read(follow, cohort);
    // The walk has yet to come to the lower blocks of the ledger: none is trimmed meanwhile, final or not.
    const final = cohort.isBeyond ? 1 : await finalHeight();
    // After the reading: what is on the chain now was on it then.
    const lost = cohort.isBeyond ? await walk(cohort, reading) : undefined;
    if (lost !== undefined) {
      await take(cohort, lost, final);
      return true;
    }
    // While the ledger is beyond the position, the walk goes on after each reversal.
    const isWalking = cohort.isBeyond && reading.groups.some(isReverted);
    const at = await take(cohort, isWalking ? { ...reading, groups: reading.groups.slice(0, 1) } : reading, final);
    if (at !== undefined && reading.atEnd && !isWalking) positions.rest(cohort, at, cohort.until === from.until);
    return true;
  };

  return async (): Promise<boolean> => {
    let hasRead = false;
    await Promise.all([positions.locate(), observe()]);
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
