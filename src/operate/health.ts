import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { BlockMark, ReplicaDistance } from "../../types/followed-node.js";
import type { NodeContext } from "../../types/node-context.js";
import type { Health, ReadyProblem } from "../../types/plugin.js";
import { andThen, ask, type Asking, drive, isPromised } from "../async/maybe-promise.js";
import type { ChainRules } from "../chain/rules.js";
import type { FullClock } from "../async/clock.js";
import type { Phase } from "./lifecycle.js";
import { lengthOf, type Present, type Problems } from "./problems.js";
import { PorticoError } from "../errors.js";

/** What the chain in use tells of itself; a host's own adapter tells nothing. */
interface ObservedChain {
  height?(): number;
  isReady?(): boolean;
  rebuilding?(): string | undefined;
  filling?(): string | undefined;
  problem?(): string | undefined;
  /** How the built-in store stands to the host's chain; undefined where it is at its tip. */
  standing?(): Extract<ReadyProblem, "catching up" | "behind the host" | "diverged"> | undefined;
}

interface HealthNeeds {
  phase(): Phase;
  problems: Problems;
  chain: ObservedChain;
  /** State of a host's own chain when it was last asked. */
  seen: { readonly height: number; readonly problem?: string | undefined };
  /** A reader's host: what keeps the node from following the chain. */
  readerProblem: (() => string | undefined) | undefined;
  /** What is wrong beside the node, which serves all the same. */
  warning: (() => string | undefined) | undefined;
  openSnapshot(): MaybePromise<ChainSnapshot | undefined>;
  /** Is told of a block that cannot be read. @throws PorticoError HOST_SILENT where it did not come in time */
  unreadable(error: unknown): undefined;
  /** Height of the newest final block of a chain that ends at a height. */
  finalHeight(tip: number): number;
  /** Opens the state at an earlier height; undefined where none is kept. */
  snapshotAt: ((height: number) => MaybePromise<ChainSnapshot | undefined>) | undefined;
  /**
   * Waits for what is read from the chain, also where that rejects with HOST_SILENT; undefined where it does not come in time, of which
   * `problems` tells then.
   */
  inTime<T>(reading: MaybePromise<T | undefined>): MaybePromise<T | undefined>;
  rules: ChainRules;
  clock: FullClock;
  /** Block times without a block after which the tip is stale. */
  staleAfter: number | false;
  sync: NodeContext["sync"];
  /** Of a replica with a tip at a height. */
  distance: ((height: number) => ReplicaDistance) | undefined;
}

/** The blocks between which the chain can be read, and the one that is taken to be final. */
interface ChainRange {
  tip: BlockMark;
  final: BlockMark;
  oldest: BlockMark;
}

type RangeNeeds = Pick<HealthNeeds, "openSnapshot" | "unreadable" | "finalHeight" | "snapshotAt">;

/** The oldest state there is, as whoever keeps the chain says when it is asked for one that is older; undefined where it keeps none. */
const oldestIn = (error: unknown): BlockMark | undefined => {
  const code = error instanceof PorticoError ? error.code : undefined;
  if (code !== "HISTORY_MISSING" && code !== "NOT_SUPPORTED") throw error;
  return (error as PorticoError).members?.oldest as BlockMark | undefined;
};

/**
 * Reads the range; undefined while there is no state. They are looked up once for each tip, and again while history does not reach back
 * to genesis.
 */
const createRange = ({ openSnapshot, unreadable, finalHeight, snapshotAt }: RangeNeeds) => {
  let kept: ChainRange | undefined;

  function* markAt(snapshot: ChainSnapshot, height: number): Asking<BlockMark | undefined> {
    const block = yield* ask(snapshot.block({ height }));
    return block && { height: block.height, id: block.id };
  }

  /** The oldest block whose state can be read: genesis, the first since which history is kept, or the tip where none is. */
  function* oldestState(snapshot: ChainSnapshot): Asking<BlockMark | undefined> {
    try {
      const past = yield* ask(snapshotAt?.(1));
      past?.release?.();
      return past === undefined ? undefined : yield* markAt(snapshot, 1);
    } catch (error) {
      return oldestIn(error);
    }
  }

  function* lookUp(snapshot: ChainSnapshot): Asking<ChainRange> {
    const { height, id } = snapshot.tip;
    // History may be completed while the tip stands still.
    if (kept?.tip.id === id && kept.oldest.height === 1) return kept;
    const tip = { height, id };
    const final = yield* markAt(snapshot, finalHeight(height));
    const oldest = yield* oldestState(snapshot);
    return (kept = { tip, final: final ?? tip, oldest: oldest ?? tip });
  }

  function* range(): Asking<ChainRange | undefined> {
    const snapshot = yield* ask(openSnapshot());
    if (snapshot === undefined) return undefined;
    try {
      return yield* lookUp(snapshot);
    } catch (error) {
      return unreadable(error);
    } finally {
      snapshot.release?.();
    }
  }

  return (): MaybePromise<ChainRange | undefined> => drive(range());
};

/** What is wrong, in one word for machines and a sentence for people. */
interface Unready {
  problem: ReadyProblem;
  detail: string;
}

interface ReadinessNeeds extends Pick<HealthNeeds, "phase" | "sync" | "staleAfter" | "clock"> {
  health(): Promise<Health>;
  /** Problems that have begun, oldest first. */
  problems(): readonly Present[];
  standing: NonNullable<ObservedChain["standing"]>;
  /** Milliseconds since 1970 at which the tip was forged, and milliseconds between two blocks; undefined while there is no tip. */
  pace(): { forgedAt: number; blockTime: number } | undefined;
}

/**
 * Blocks by which a host may be behind the height that its peers report: they tell of a block when they have it, and the host a moment
 * later.
 */
export const toleratedGap = 5;

const unreadyOf: Partial<Record<Health["status"], ReadyProblem>> = { starting: "starting", stopped: "stopping", failing: "failing" };

/** Whether the host has not caught up with its network. A host that cannot say is not held to be behind. */
const isSyncing = async (sync: NodeContext["sync"], height: number): Promise<boolean> => {
  if (sync === undefined) return false;
  try {
    if (sync.synced !== undefined) return !(await sync.synced());
    return (await sync.networkHeight()) - height > toleratedGap;
  } catch {
    return false;
  }
};

/** The oldest, but for a node that is behind: nothing is known of that while it cannot be reached, and whatever is wrong here is worse. */
const worst = (problems: readonly Present[]): ReadyProblem | undefined => {
  const kinds = problems.map(({ kind }) => kind).filter((kind) => kind !== undefined);
  return kinds.find((kind) => kind !== "node behind") ?? kinds[0];
};

/** Says why no requests should be sent here at present; undefined if they should. */
const createReadiness = (needs: ReadinessNeeds) => {
  const staleness = (): string | undefined => {
    const { staleAfter, clock } = needs;
    const pace = needs.pace();
    if (staleAfter === false || pace === undefined) return undefined;
    const age = clock.now() - pace.forgedAt;
    return age > staleAfter * pace.blockTime ? `there has been no block for ${lengthOf(age)}` : undefined;
  };

  return async (): Promise<{ health: Health; unready: Unready | undefined }> => {
    const health = await needs.health();
    const unready = (problem: ReadyProblem, detail = health.problem ?? problem) => ({ health, unready: { problem, detail } });
    if (needs.phase() === "stopping") return unready("stopping", "the node is stopping");
    const kind = worst(needs.problems());
    if (kind !== undefined) return unready(kind);
    const standing = needs.standing();
    if (standing !== undefined) return unready(standing, health.problem ?? `the store is at height ${health.height}`);
    const wrong = unreadyOf[health.status];
    if (wrong !== undefined) return unready(wrong);
    if (await isSyncing(needs.sync, health.height)) return unready("catching up", "the host has not caught up with its network");
    const stale = staleness();
    return stale === undefined ? { health, unready: undefined } : unready("stale", stale);
  };
};

/** What `health`, the health routes and the metrics tell of the chain. */
export const createHealth = (needs: HealthNeeds) => {
  const { phase, problems, chain, seen, readerProblem, rules } = needs;
  let tipTime: number | undefined;

  const openSnapshot = (): MaybePromise<ChainSnapshot | undefined> =>
    andThen(needs.openSnapshot(), (snapshot) => {
      tipTime = snapshot?.tip.timestamp;
      return snapshot;
    });
  const range = createRange({ ...needs, openSnapshot });

  const withRange = (found: ChainRange | undefined): Health => {
    const wrong = [problems.present(), chain.problem?.() ?? seen.problem, readerProblem?.()].filter((reason) => reason !== undefined);
    // It ends by itself: nothing is wrong unless something keeps it from going on.
    const rebuilding = readerProblem?.() === undefined ? chain.rebuilding?.() : undefined;
    const problem = [...wrong, rebuilding, chain.filling?.(), needs.warning?.()].filter((reason) => reason !== undefined).join("; ");
    const isReady = chain.isReady?.() ?? seen.height > 0;
    const started = wrong.length > 0 ? "failing" : isReady ? "ok" : "starting";
    const status = phase() === "started" ? started : phase() === "starting" ? "starting" : "stopped";
    const height = found?.tip.height ?? chain.height?.() ?? seen.height;
    return { status, height, ...(problem === "" ? {} : { problem }), ...found, ...needs.distance?.(height) };
  };

  /** Nothing is opened unless the plugin runs. What cannot be read is part of the health by then. */
  const findRange = (): MaybePromise<ChainRange | undefined> => (phase() === "started" ? range() : undefined);

  const report = async (): Promise<Health> => withRange(await needs.inTime(findRange()));

  const pace = (): { forgedAt: number; blockTime: number } | undefined =>
    tipTime === undefined
      ? undefined
      : { forgedAt: rules.epoch.toMilliseconds(tipTime), blockTime: rules.milestones.at(seen.height + 1).blocktime * 1000 };

  return {
    /** At once: of a chain that answers later, what it answered last. */
    health: (): Health => {
      const found = needs.inTime(findRange());
      return withRange(isPromised(found) ? undefined : found);
    },
    report,
    ready: createReadiness({ ...needs, health: report, pace, problems: problems.list, standing: chain.standing ?? (() => undefined) }),
    pace,
  };
};

export type HealthReports = ReturnType<typeof createHealth>;
