import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { BlockMark, FollowedNode, ReplicaDistance } from "../../types/followed-node.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import type { FullClock } from "../async/clock.js";
import { messageOf, PorticoError } from "../errors.js";
import { toleratedGap } from "../operate/health.js";
import type { Problems } from "../operate/problems.js";
import type { LmdbChain } from "../store/lmdb-chain.js";
import type { SourceNode } from "../store/sync/source.js";
import { type Cursor, type CursorField, parseCursors } from "../follow/cursor.js";
import type { FollowRoom } from "../follow/create-follow.js";

/** What a replica lacks that others behind the same balancer may have shown already. */
interface Patience {
  /**
   * Resolves when the tip has the height of `at`, or the node does not have it either; undefined where there is nothing to wait for.
   * @throws PorticoError NOT_READY if it does not come in time
   */
  reach(at: string): Promise<void> | undefined;
  /** Following, where a cursor that is not known yet is waited for. */
  patient(follow: FollowRoom): FollowRoom;
}

interface PatienceNeeds {
  /** Height of the tip. */
  height(): number;
  /** Height of the node's tip; undefined while it is not known. */
  nodeHeight(): number | undefined;
  /** Calls `changed` with each new tip. Returns what ends it. */
  watch(changed: () => void): () => void;
}

/** Milliseconds: far longer than a block is on its way. */
const longest = 3_000;
/** Blocks that may come within that time, or that others may have before this replica has heard that the node has them. */
const near = 100;

const isMissing = (error: unknown): boolean =>
  error instanceof PorticoError && (error.code === "CURSOR_UNKNOWN" || error.code === "BAD_REQUEST");

/** It is not gone: it has not come yet. */
const notYet = (): PorticoError => new PorticoError("NOT_READY", "This replica does not have that block yet.");

/** A height asked for. That of a block with its id was seen somewhere; another may be anyone's guess. */
interface Wanted {
  height: number;
  wasSeen: boolean;
}

const wantedBy = (text: string, field: CursorField | undefined): Wanted[] =>
  parseCursors(text, field).map((one) =>
    one.kind === "height"
      ? { height: one.height, wasSeen: false }
      : { height: one.kind === "cursor" ? (one.cursor.block?.height ?? 0) : 0, wasSeen: true },
  );

/** Replicas get a block one after the other: a reader who has seen it at one may ask the next before that has it. */
const createPatience = ({ height, nodeHeight, watch }: PatienceNeeds): Patience => {
  const nextTip = (until: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        leave();
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, until - performance.now()));
      const leave = watch(end);
    });

  const isNear = (wanted: Wanted): boolean => Math.abs(wanted.height - height()) <= near;

  /** Whether the node may have a block at this height that has not come here: one above the tip, or the chain near the tip is another. */
  const mayCome = ({ height: wanted, wasSeen }: Wanted): boolean => {
    const [own, node] = [height(), nodeHeight()];
    if (wanted <= own) return wanted > own - near && (node === undefined || node > own);
    return node === undefined || wanted <= Math.max(own, node) + (wasSeen ? near : 0);
  };

  const waitFor = async (wanted: Wanted): Promise<void> => {
    const until = performance.now() + longest;
    while (height() < wanted.height && isNear(wanted) && performance.now() < until) await nextTip(until);
    if (height() < wanted.height && mayCome(wanted)) throw notYet();
  };

  const locate = async (follow: FollowRoom, text: string, options: Parameters<FollowRoom["locate"]>[1]): Promise<Cursor> => {
    const until = performance.now() + longest;
    for (;;) {
      try {
        return await follow.locate(text, options);
      } catch (error) {
        if (!isMissing(error)) throw error;
        // A malformed text ends here.
        const wanted = wantedBy(text, options?.field);
        if (wanted.some(isNear) && performance.now() < until) await nextTip(until);
        else if (wanted.some(mayCome)) throw notYet();
        else throw error;
      }
    }
  };

  return {
    reach: (at) => {
      const wanted: Wanted = { height: /^\d{1,10}$/.test(at) ? Number(at) : 0, wasSeen: false };
      return wanted.height > height() && (isNear(wanted) || mayCome(wanted)) ? waitFor(wanted) : undefined;
    },
    patient: (follow) => ({ ...follow, locate: (text, options) => locate(follow, text, options) }),
  };
};

interface ReplicaNeeds {
  problems: Problems;
  logger: Logger;
  clock: Pick<FullClock, "monotonic">;
}

/** A plugin that follows another node. */
export interface Replica {
  readonly url: string;
  /** Gives the replica its chain, and returns the same chain without states once they are found to differ. */
  attach<C extends ChainAdapter & Partial<Pick<LmdbChain, "tipId" | "isReady" | "standing">>>(chain: C): C;
  prepare(signal: AbortSignal): Promise<void>;
  begin(): void;
  end(): Promise<void>;
  distance(height: number): ReplicaDistance;
  readonly patience: Patience;
  /** The node, as the store asks and tells it while it reads its blocks. */
  readonly source: SourceNode;
}

/** Watches whether a store's state is the node's, block by block. */
const createComparison = (follows: FollowedNode, { problems, logger }: ReplicaNeeds) => {
  const problem = problems.define({
    kind: "diverged",
    begun: "the state differs from the node's and is not served",
    ended: "the state equals the node's again",
  });
  /** What differs: the digest at the tip, or rows that were changed by other hands. */
  const differing = new Set<"tip" | "rows">();

  const found = (what: "tip" | "rows", reason: string): void => {
    problem.begin(`${reason}; restart the replica to rebuild the store from a snapshot or the blocks`, what);
    if (differing.size === 0) follows.discardStore(reason);
    differing.add(what);
  };

  /** Whatever it was, the state is the node's now. */
  const agrees = (): void => {
    if (!differing.delete("tip")) return;
    problem.end("tip");
    if (differing.size === 0) follows.discardStore(undefined);
  };

  const compare = (tip: BlockMark, own: string | undefined): void => {
    const theirs = follows.digestOf(tip);
    if (own === undefined || theirs === undefined) return;
    if (theirs === own) return agrees();
    if (!follows.takeBack(tip)) found("tip", `at block ${tip.height} (${tip.id}) the digest is ${own}, the node's is ${theirs}`);
  };

  return {
    isDiverged: () => differing.size > 0,
    compareTip: (chain: ChainAdapter): void => {
      let snapshot: ReturnType<ChainAdapter["snapshot"]>;
      // Called by timers, too: nothing must get out.
      try {
        snapshot = chain.snapshot();
        if (snapshot === undefined || isPromised(snapshot)) return;
        compare(snapshot.tip, snapshot.digest);
      } catch (error) {
        logger.warn(`the digest cannot be compared with the node's: ${messageOf(error)}`);
      } finally {
        if (snapshot !== undefined && !isPromised(snapshot)) snapshot.release?.();
      }
    },
    /** A store that was changed by other hands has kept the digest of what it was. */
    compareWhole: async (chain: ChainAdapter & Partial<Pick<LmdbChain, "scanState">>): Promise<void> => {
      const scanned = await chain.scanState?.();
      if (scanned !== undefined && scanned.found !== scanned.kept) found("rows", `at block ${scanned.tip.height} (${scanned.tip.id}) the store's state has the digest ${scanned.found}, not ${scanned.kept} as when it was written`);
    },
    forget: () => {
      differing.clear();
    },
  };
};

/** Milliseconds for which a node may lack blocks of the replica's, as after a crash, before anything is said. */
const backSoon = 2_000;

/** Tells of a node that has less of the same chain than the replica. What is here is served: the node had it, and no other blocks are known. */
const createNodeBehind = (follows: FollowedNode, { problems, clock }: ReplicaNeeds, height: () => number) => {
  const problem = problems.define({ kind: "node behind", level: "warn", begun: "the node is behind this replica", ended: "the node is no longer behind this replica" });
  let since: number | undefined;

  return (end: number | undefined): void => {
    since = end === undefined ? undefined : (since ?? clock.monotonic());
    if (since === undefined) return problem.end();
    if (clock.monotonic() - since < backSoon) return;
    problem.begin(
      `${follows.url} is at height ${end ?? 0} and this replica at ${height()} of the same chain. Was the node restored from a backup? The replica serves what it has, and gets new blocks once the node has passed its height or has other blocks`,
    );
  };
};

const createUnlessAway =
  (follows: FollowedNode): SourceNode["unlessAway"] =>
  async (work) => {
    const isAway = (): boolean => follows.problem() !== undefined;
    if (isAway()) return undefined;
    let leave = (): void => undefined;
    const away = new Promise<undefined>((resolve) => {
      leave = follows.watch(() => {
        if (isAway()) resolve(undefined);
      });
    });
    try {
      return await Promise.race([work(), away]);
    } finally {
      leave();
    }
  };

const tipOf = (chain: ChainAdapter): BlockMark | undefined => {
  const snapshot = chain.snapshot();
  if (snapshot === undefined || isPromised(snapshot)) return undefined;
  const { height, id } = snapshot.tip;
  snapshot.release?.();
  return { height, id };
};

/** Undefined where the process is a node itself. */
export const createReplica = (context: NodeContext | ReaderContext, needs: ReplicaNeeds): Replica | undefined => {
  const follows = context.reader === true ? undefined : context.follows;
  if (follows === undefined) return undefined;
  const away = needs.problems.define({ kind: "node unreachable", level: "warn", begun: "the node cannot be reached", ended: "the node is reached again" });
  const comparison = createComparison(follows, needs);
  let chain: (ChainAdapter & Partial<Pick<LmdbChain, "height" | "look" | "settled" | "scanState">>) | undefined;
  let leave: (() => void)[] = [];
  const height = (): number => chain?.height?.() ?? 0;
  const endsBelow = createNodeBehind(follows, needs, height);

  const look = (): void => {
    const problem = follows.problem();
    if (problem === undefined) away.end();
    else away.begin(problem);
    if (chain === undefined) return;
    // What it lags behind is counted from the last time that it was level.
    follows.distance(height());
    comparison.compareTip(chain);
  };

  return {
    url: follows.url,
    attach: (given) => {
      chain = given;
      const { isDiverged } = comparison;
      const { changes } = given;
      const standing = (): ReturnType<LmdbChain["standing"]> => given.standing?.() ?? (follows.distance(height()).behind > toleratedGap ? "catching up" : undefined);
      return {
        ...given,
        snapshot: (bounds) => (isDiverged() ? undefined : given.snapshot(bounds)),
        snapshotAt: (at, bounds) => (isDiverged() ? undefined : given.snapshotAt?.(at, bounds)),
        ...(changes === undefined ? {} : { changes: { view: () => (isDiverged() ? undefined : changes.view()), watch: (changed) => changes.watch(changed) } }),
        tipId: () => (isDiverged() ? undefined : given.tipId?.()),
        isReady: () => !isDiverged() && given.isReady?.() !== false,
        standing,
      };
    },
    prepare: async (signal) => {
      comparison.forget();
      endsBelow(undefined);
      leave.push(follows.watch(look));
      await follows.prepare(signal);
    },
    begin: () => {
      const following = chain;
      if (following === undefined) return;
      leave.push(following.changes?.watch(look) ?? (() => undefined));
      follows.follow({ tip: () => tipOf(following), look: () => following.look?.(), settled: async () => following.settled?.() });
      void comparison.compareWhole(following).catch((error: unknown) => needs.logger.warn(`the store's state cannot be checked: ${messageOf(error)}`));
      look();
    },
    end: async () => {
      for (const one of leave) one();
      leave = [];
      await follows.end();
    },
    distance: follows.distance,
    source: { fetchReversalTimes: follows.askReversals, unlessAway: createUnlessAway(follows), endsBelow },
    patience: createPatience({ height, nodeHeight: follows.height, watch: (changed) => chain?.changes?.watch(changed) ?? (() => undefined) }),
  };
};
