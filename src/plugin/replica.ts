import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { BlockMark, FollowedNode, ReplicaDistance } from "../../types/followed-node.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import type { FullClock } from "../async/clock.js";
import { messageOf } from "../errors.js";
import { createPatience, type Patience } from "./patience.js";
import type { Problems } from "../operate/problems.js";
import type { LmdbChain } from "../store/lmdb-chain.js";
import type { SourceNode } from "../store/sync/source.js";

interface ReplicaNeeds {
  problems: Problems;
  logger: Logger;
  clock: Pick<FullClock, "monotonic">;
}

/** A plugin that follows another node. */
export interface Replica {
  readonly url: string;
  /** The same chain, without a state once that was found to be another than the node's. */
  guard<C extends ChainAdapter & Partial<Pick<LmdbChain, "tipId" | "isReady" | "standing">>>(chain: C): C;
  prepare(signal: AbortSignal): Promise<void>;
  begin(): void;
  end(): Promise<void>;
  distance(height: number): ReplicaDistance;
  readonly patience: Patience;
  /** The node, as the store asks and tells it while it reads its blocks. */
  readonly source: SourceNode;
}

/** Blocks that may be on their way. */
const toleratedGap = 5;

/** Watches whether a store's state is the node's, block by block. */
const createComparison = (follows: FollowedNode, { problems, logger }: ReplicaNeeds) => {
  const problem = problems.define({ kind: "diverged", begun: "the state is not the node's and is not served", ended: "the state is the node's again" });
  /** What differs: the digest at the tip, or rows that were changed by other hands. */
  const differing = new Set<"tip" | "rows">();

  const found = (what: "tip" | "rows", reason: string): void => {
    problem.begin(`${reason}; start the replica again: it begins with a snapshot or the blocks`, what);
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
      `${follows.url} stands at height ${end ?? 0}, this replica at ${height()}, on the same chain: was the node restored from a backup? What is here is served; new blocks come when the node has got as far, or has other blocks`,
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
    guard: (given) => {
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
    source: { leaving: follows.askReversals, unlessAway: createUnlessAway(follows), endsBelow },
    patience: createPatience({ height, nodeHeight: follows.height, watch: (changed) => chain?.changes?.watch(changed) ?? (() => undefined) }),
  };
};
