import { setTimeout as delay } from "node:timers/promises";
import type { Tip } from "../../../types/chain.js";
import type { BlockData, HostEvents } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import { parseBlockHeader } from "../../chain/blocks/block.js";
import { closeAll } from "../../async/close-all.js";
import { messageOf, PorticoError } from "../../errors.js";
import { rebuildText } from "../state/rebuild.js";
import { type CatchingUp, type CatchingUpNeeds, createCatchingUp, headerOf, runsOf, type EmittedBlock } from "./catch-up.js";
import { createFilling, createRetrying, createTurns, fillingText, type RetryPace } from "./turns.js";

export interface FollowerNeeds extends CatchingUpNeeds {
  /** Is told how long each block of the host's took to be written, in milliseconds. */
  onWritten?: ((milliseconds: number) => void) | undefined;
  events: HostEvents;
  /** Milliseconds between two comparisons of the tip with the block source. */
  lookInterval?: number;
  /** How soon a failure is followed by another try, and becomes a problem. */
  retryPace?: RetryPace;
}

export type Standing = "catching up" | "behind the host" | "diverged";

/** Keeps the store at the host's tip. */
export interface Follower {
  /**
   * Writes genesis into an empty store and reads what is missing from the block source. Resolves when the store can answer: if it was
   * complete before, as soon as its tip has been compared with the source, but after two seconds in any case; else when it has reached the
   * end of the source. Does nothing once it was stopped.
   * @throws PorticoError when the first reading of the chain fails; the store keeps every good block before the failure.
   */
  start(): Promise<void>;
  /** Compares the tip with the block source at once, unless that is due: nothing may be told of what happened meanwhile. */
  look(): void;
  /** Resolves when all that the host has emitted so far is written, or could not be. */
  settled(): Promise<void>;
  /** Why a block cannot be written at present; undefined if nothing is wrong. */
  problem(): string | undefined;
  /** How the store stands to the host's chain, if it is not at its tip and that is more than a moment's lag. */
  standing(): Standing | undefined;
  /** That the store is being rebuilt, why, and how far it is; undefined unless it is. */
  rebuilding(): string | undefined;
  /** That an index is being filled, and how far it is; undefined where none is. */
  filling(): string | undefined;
  stop(): Promise<void>;
}

/** Milliseconds that `start` waits for the source: one that does not answer must not keep the node from serving. */
const patience = 2_000;

const missing = ({ height, id }: Tip, other: string | undefined, hasSource: boolean): PorticoError => {
  const named = `block ${height} (${id})`;
  if (other !== undefined)
    return new PorticoError("BLOCK_DOES_NOT_CHAIN", `the host has applied ${named}, but the store has another block at that height (${other})`);
  return new PorticoError(
    "BLOCK_DOES_NOT_CHAIN",
    hasSource
      ? `the block source does not have ${named}, which the host has applied`
      : `${named} does not follow the tip, or came without its transactions, and there is no block source to ask`,
  );
};

/** What the host applied last: until the store has it, the store is behind, or on another branch. */
const createAwaited = (idAt: (height: number) => string | undefined, hasSource: boolean) => {
  let awaited: Tip | undefined;
  return {
    note: (block: Tip): void => {
      awaited = block;
    },
    reverted: ({ height }: Tip): void => {
      if (awaited !== undefined && awaited.height >= height) awaited = undefined;
    },
    /** @throws PorticoError BLOCK_DOES_NOT_CHAIN unless the store has it */
    require: (): void => {
      if (awaited === undefined) return;
      const id = idAt(awaited.height);
      if (id !== awaited.id) throw missing(awaited, id, hasSource);
      awaited = undefined;
    },
    /** Whether the store has another block there. */
    isOther: (): boolean => {
      const id = awaited === undefined ? undefined : idAt(awaited.height);
      return id !== undefined && id !== awaited?.id;
    },
  };
};

/** A database that was rolled back, or is read anew: the host will have these blocks again, or others. Until then the store keeps them. */
const requireWhole = (end: number | undefined, tip: Tip | undefined): void => {
  if (end === undefined) return;
  throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `the block source ends at height ${end}, but earlier it had the store's blocks up to height ${tip?.height ?? 0}; was the host's database rolled back?`);
};

/** Blocks in a row that come from the block source alone before that is told. */
const mostPolled = 3;
/** Kinds of payloads that are told: a host may emit anything. */
const mostTold = 10;

const shapeOf = (payload: unknown): string => {
  if (payload === undefined || payload === null) return "nothing";
  if (typeof payload !== "object" || Array.isArray(payload)) return Array.isArray(payload) ? "a list" : `a ${typeof payload}`;
  const members = Object.keys(payload);
  return members.length === 0 ? "an object without members" : `an object with the members ${members.slice(0, 20).join(", ")}`;
};

const isLikeBlock = (payload: unknown): boolean => {
  if (typeof payload !== "object" || payload === null) return false;
  const { id, height } = payload as Record<string, unknown>;
  return typeof id === "string" && Number.isSafeInteger(height);
};

/** Tells the author of a host, once each, of mistakes that otherwise show as a delay alone, because the block source has the blocks. */
const createHints = (logger: Logger) => {
  const told = new Set<string>();
  let polled = 0;
  const tell = (kind: string, message: string): void => {
    if (told.has(kind) || told.size >= mostTold) return;
    told.add(kind);
    logger.warn(message);
  };
  return {
    heard: (event: string, payload: unknown): void => {
      polled = 0;
      try {
        // What is wrong within a block is found, and told, where it is parsed.
        if (isLikeBlock(payload)) return;
        parseBlockHeader(payload as BlockData | undefined);
      } catch (error) {
        const kind = `${event} was emitted with ${shapeOf(payload)}`;
        tell(kind, `${kind} instead of a block (${messageOf(error)}); blocks are read from the block source`);
      }
    },
    polled: (blocks: number): void => {
      polled += Math.max(0, blocks);
      if (polled >= mostPolled) tell("", `the last ${polled} blocks came from the block source, and none from an event; blocks are seconds late unless the host's \`events\` emit \`block.applied\` and \`block.reverted\`, by exactly these names`);
    },
  };
};

type Hints = ReturnType<typeof createHints>;

interface Handling {
  /** What the host applied since the turn before began. */
  applied(blocks: readonly BlockData[]): Promise<void>;
  reverted(block: BlockData): Promise<void>;
}

/** Takes the host's events into turns, in order. */
const createListening = (events: HostEvents, add: (work: () => Promise<void>) => void, { applied, reverted }: Handling, heard: Hints["heard"]) => {
  /** Blocks of the turn that was queued last, until it begins: what the host applies meanwhile joins them. */
  let gathered: BlockData[] | undefined;

  const onApplied = (payload?: unknown): void => {
    const data = payload as BlockData;
    heard("block.applied", payload);
    if (gathered !== undefined) return void gathered.push(data);
    const blocks = (gathered = [data]);
    add(() => {
      if (gathered === blocks) gathered = undefined;
      return applied(blocks);
    });
  };

  const onReverted = (payload?: unknown): void => {
    heard("block.reverted", payload);
    // What is applied from now on must not be written before this is reverted.
    gathered = undefined;
    add(() => reverted(payload as BlockData));
  };

  return {
    begin: (): void => {
      events.on("block.applied", onApplied);
      events.on("block.reverted", onReverted);
    },
    endApplied: () => events.off("block.applied", onApplied),
    endReverted: () => events.off("block.reverted", onReverted),
  };
};

interface HandlingNeeds extends Pick<CatchingUp, "applyRun" | "takeOut"> {
  awaited: ReturnType<typeof createAwaited>;
  attempt(work: () => Promise<boolean>): Promise<void>;
  onWritten: FollowerNeeds["onWritten"];
}

/** What is done about the host's events. */
const createHandling = ({ applyRun, takeOut, awaited, attempt, onWritten }: HandlingNeeds): Handling => {
  /** Those of a run are written together, or one after another: each counts with its share. */
  const timed = async (run: readonly EmittedBlock[]): Promise<boolean> => {
    const begun = performance.now();
    const lackedAny = await applyRun(run);
    const each = (performance.now() - begun) / run.length;
    if (lackedAny) run.forEach(() => onWritten?.(each));
    return lackedAny;
  };

  return {
    applied: async (blocks) => {
      for (const run of runsOf(blocks)) {
        await attempt(() => {
          const last = run.at(-1);
          if (last !== undefined) awaited.note(headerOf(last));
          // A run that the store has already shows nothing: the host may be repeating itself.
          return timed(run);
        });
      }
    },
    reverted: (data) =>
      attempt(async () => {
        const block = parseBlockHeader(data);
        awaited.reverted(block);
        await takeOut(block);
        // Where the host is then is not known: its database may have the block for a moment longer.
        return false;
      }),
  };
};

/** Looks at the source, and counts the blocks that came so. A replica's node tells of its blocks by itself. */
const createPoll =
  ({ store, node }: CatchingUpNeeds, look: CatchingUp["look"], hints: Hints) =>
  async (): Promise<boolean> => {
    const before = store.tip()?.height ?? 0;
    const isThere = await look();
    if (node === undefined) hints.polled((store.tip()?.height ?? 0) - before);
    return isThere;
  };

/** Milliseconds between two looks at the block source. Tests that wait for one look more often. */
export const looks = { interval: 5_000 };

export const createFollower = ({ events, lookInterval = looks.interval, ...needs }: FollowerNeeds): Follower => {
  const { store, source, logger } = needs;
  const catchingUp = createCatchingUp(needs);
  const { begin, catchUp, look, takeOutUnsaved, applyRun, takeOut, checkRewards, compared, shrunkTo, target, stop } = catchingUp;
  const [turns, hints] = [createTurns(), createHints(logger)];
  let stopped = false;
  const awaited = createAwaited(store.idAt, source !== undefined);
  let looking: NodeJS.Timeout | undefined;
  const fillSets = createFilling(store, turns, { logger, isStopped: () => stopped });
  const retrying = createRetrying(() => enqueue(caughtUp), { logger, writes: store.environment.writes, pace: needs.retryPace });

  /** `work` returns whether the store is where the host is. */
  const attempt = (work: () => Promise<boolean>): Promise<void> =>
    retrying.attempt(async () => {
      const isThere = await work();
      if (stopped) return isThere;
      checkRewards();
      awaited.require();
      requireWhole(shrunkTo(), store.tip());
      fillSets();
      return isThere;
    });

  const enqueue = (work: () => Promise<boolean>): void => turns.add(() => attempt(work));

  /** Work of `start`. */
  const atFirst = (work: () => Promise<void>): Promise<void> => turns.done(async () => (stopped ? undefined : work()));

  const caughtUp = (): Promise<boolean> => catchUp().then(() => true);

  const listening = createListening(events, turns.add, createHandling({ applyRun, takeOut, awaited, attempt, onWritten: needs.onWritten }), hints.heard);
  const poll = createPoll(needs, look, hints);
  /** Looks only when nothing else is under way or due: that would find the same. */
  const lookSoon = (): void => {
    if (source !== undefined && turns.isIdle() && !retrying.isDue()) enqueue(poll);
  };

  return {
    standing: () => {
      if (retrying.problem() === undefined) return (target() ?? 0) > (store.tip()?.height ?? 0) + 1 ? "catching up" : undefined;
      return awaited.isOther() || shrunkTo() !== undefined ? "diverged" : "behind the host";
    },
    start: async () => {
      if (stopped) return;
      listening.begin();
      await atFirst(begin);
      if (source !== undefined) looking = setInterval(lookSoon, lookInterval).unref();
      if (!store.isComplete()) return atFirst(catchUp);
      fillSets();
      enqueue(() => takeOutUnsaved().then(caughtUp));
      await Promise.race([compared, turns.last(), delay(patience, undefined, { ref: false })]);
    },
    look: lookSoon,
    settled: turns.settled,
    problem: retrying.problem,
    rebuilding: () => {
      const rebuild = store.rebuilding();
      return rebuild && rebuildText(rebuild, target());
    },
    filling: () => fillingText(store.filling()),
    stop: async () => {
      stopped = true;
      stop();
      retrying.stop();
      // `start` may set the interval until its turn is over.
      await closeAll(listening.endApplied, listening.endReverted, turns.last, () => clearInterval(looking));
    },
  };
};
