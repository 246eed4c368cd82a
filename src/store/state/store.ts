import { performance } from "node:perf_hooks";
import type { Transaction as ReadTransaction } from "lmdb";
import { type ReadSession, createCheckedSession, createReadSession, openNewest, openTransaction } from "../lmdb/read-session.js";
import type { ChainRules } from "../../chain/rules.js";
import { parseAmount } from "../../chain/amount.js";
import { firstWhere } from "../../text/first-where.js";
import { rankOf } from "../records/ranked-set.js";
import { existing, readState, stateKey, readBlock, readFullBlock, readRound } from "../records/records.js";
import { amountKey, numberKey, sets } from "../layout/keys.js";
import type { OtherReward, Store, StoreNeeds, StoreOptions } from "./store-contract.js";
import type { ChangesView, KeptBlock, OrphanBlock } from "../../../types/chain-adapter.js";
import type { RoundDelegate, Tip } from "../../../types/chain.js";
import { systemClock } from "../../async/clock.js";
import { PorticoError } from "../../errors.js";
import { readOrphan, readTimes, withApplied } from "../follow/orphans.js";
import { historyMissing, oldestState } from "../history/past-records.js";
import { createPastLists, createPastSnapshot } from "../history/past-snapshot.js";
import type { StateRecord } from "../layout/codec.js";
import { noEntries } from "../layout/write-log.js";
import { type Environment, openEnvironment } from "../lmdb/environment.js";
import { type Searches, createSearches } from "../query/search.js";
import { checkRules } from "../records/rules-fingerprint.js";
import { lowestRevertible, readDigest } from "../write/undo.js";
import { type ChainMarks, createChainMarks, createStoreWrites } from "./store-writes.js";
import { createSnapshot, createViews, idIn, type StateView, type Views } from "./views.js";
import { completeKey, readRebuild } from "./rebuild.js";

export type { Store, StoreNeeds, StoreOptions } from "./store-contract.js";

/** What lmdb-js's types leave out: it can read within a given transaction. */
interface BytesWithin {
  getBinaryFast(key: Buffer, within: { transaction?: ReadTransaction }): Buffer | undefined;
}

/**
 * Reads the state that was committed last. Its bytes are parsed only when they differ from those read before, which makes it cheap
 * enough for every request.
 */
export const createTipCache = ({ db }: Environment) => {
  const meta: BytesWithin = db.meta;
  let last: { bytes: Buffer; state: StateRecord } | undefined;
  return (transaction?: ReadTransaction): StateRecord | undefined => {
    const within = transaction === undefined ? {} : { transaction };
    // This is lmdb-js's one buffer for all reads: the next one overwrites it, and it is longer than the value that it holds.
    const read = meta.getBinaryFast(stateKey, within);
    if (read !== undefined && last?.bytes.compare(read, 0, read.length) === 0) return last.state;
    const reading = createCheckedSession(createReadSession({ db }, transaction));
    const bytes = reading.bytes("meta", stateKey);
    const state = readState(reading);
    last = bytes === undefined || state === undefined ? undefined : { bytes, state };
    return state;
  };
};

/** Heights, both included, in which all blocks should have one reward. */
interface Span {
  from: number;
  to: number;
  reward: bigint;
}

/** The reward of genesis is not compared. */
const firstRewarded = 2;

const spansOf = ({ milestones: { all } }: ChainRules, from: number, to: number): Span[] =>
  all
    .map(({ height, reward }, index) => ({
      from: Math.max(height, from, firstRewarded),
      to: Math.min((all[index + 1]?.height ?? Infinity) - 1, to),
      reward: parseAmount(reward),
    }))
    .filter((span) => span.from <= span.to);

/**
 * The first such block from one height to another, both included; those that `network.exceptions.blocks` names do not count. Found by
 * counting in the index of rewards, so that it costs the same for chains of any length.
 */
const firstOtherReward = (reading: ReadSession, rules: ChainRules, from: number, to: number): OtherReward | undefined => {
  if (rules.network.rewards === "blocks") return undefined;
  const rankAt = (reward: bigint, height: number): number =>
    rankOf(reading, sets.blocksByReward, Buffer.concat([amountKey(reward), numberKey(height)]));
  for (const span of spansOf(rules, from, to)) {
    const below = rankAt(span.reward, span.from);
    const isOther = (height: number): boolean => rankAt(span.reward, height + 1) - below <= height - span.from;
    if (!isOther(span.to)) continue;
    const height = firstWhere(span.from, span.to, isOther);
    const block = existing(readBlock(reading, height), `block ${height}`);
    const expected = rules.rewardOf(block);
    return expected === undefined ? firstOtherReward(reading, rules, height + 1, to) : { block, expected };
  }
  return undefined;
};

/** Milliseconds that blocks are read for in one piece. */
const longestRead = 5;

/** The store at one state, for readers that follow the chain. Answers at once. `release` frees the state. */
export interface StoreChangesView extends ChangesView {
  idAt(height: number): string | undefined;
  blocks(from: number, limit: number): readonly KeptBlock[];
  orphan(id: string): OrphanBlock | undefined;
  timesOf(kind: "applied" | "reverted", block: { height: number; id: string }): number;
  round(round: number): readonly RoundDelegate[] | undefined;
  release(): void;
}

const createChangesView = ({ reading, state }: Pick<StateView, "reading" | "state">, release: () => void): StoreChangesView => {
  const tip: Tip = state.tip;
  return {
    tip,
    idAt: (height) => idIn({ reading, state }, height),
    blocks: (from, limit) => {
      const begun = performance.now();
      const last = Math.min(tip.height, from + limit - 1);
      const found: KeptBlock[] = [];
      for (let height = Math.max(1, from); height <= last; height++) {
        const full = readFullBlock(reading, height);
        const digest = readDigest(reading, full.block)?.toString("hex");
        found.push({ ...withApplied(reading, full), ...(digest === undefined ? {} : { digest }) });
        if (performance.now() - begun > longestRead) break;
      }
      return found;
    },
    orphan: (id) => readOrphan(reading, id),
    timesOf: (kind, block) => readTimes(reading, kind, block),
    round: (round) => readRound(reading, round),
    release,
  };
};

interface StoreReadsNeeds {
  /** Whether this process writes the blocks. */
  isWriter: boolean;
  /** Whether the states at earlier heights are served. */
  history: boolean;
  views: Views;
  marks: ChainMarks;
  searches: Searches;
}

/** The state that a process serves. In another process than the one that writes, what is committed may be half of a chain at any time. */
const createServedView = ({ isWriter, views }: StoreReadsNeeds) => (): StateView | undefined => {
  if (isWriter) return views.ofNow();
  const view = views.ofLastCommit();
  if (view === undefined || view.reading.get("meta", completeKey) === true) return view;
  views.take(view)();
  return undefined;
};

/** The reading side of the store. */
const createStoreReads = (needs: StoreReadsNeeds): Pick<Store, "snapshot" | "snapshotAt" | "changesView"> => {
  const { isWriter, history, views, marks, searches } = needs;
  const servedView = createServedView(needs);
  const pastLists = createPastLists();

  const snapshotAt: Store["snapshotAt"] = (height, { searchRows = Infinity } = {}) => {
    if (!history) throw new PorticoError("NOT_SUPPORTED", "This node keeps no history.");
    const view = servedView();
    if (view === undefined) return undefined;
    const release = views.take(view);
    try {
      const { height: tip } = view.state.tip;
      if (height === tip) return createSnapshot(view, searches.begin(searchRows), release);
      if (height >= 1 && height < tip) {
        const oldest = oldestState(view.reading, view.state);
        if (height < oldest) throw historyMissing(oldest, view.reading);
        return createPastSnapshot(view, height, { search: searches.begin(searchRows), lists: pastLists, release });
      }
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  };

  return {
    snapshot: ({ searchRows = Infinity } = {}) => {
      const view = servedView();
      return view && createSnapshot(view, searches.begin(searchRows), views.take(view));
    },
    snapshotAt,
    changesView: () => {
      const view = isWriter && !marks.complete ? undefined : servedView();
      return view && createChangesView(view, views.take(view));
    },
  };
};

/** When a block was reverted, in milliseconds since 1970: now, unless a replica's node has told when. */
const createRevertedAt =
  ({ timesOf, clock = systemClock }: StoreNeeds) =>
  (id: string): number =>
    timesOf?.("reverted", id)?.at ?? clock.now();

/** Opens the store. @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE; NOT_READY if another process has to make it first */
export const createStore = (options: StoreOptions, needs: StoreNeeds): Store => {
  const { access = "write", disposable = false, history = true, undoBlocks } = options;
  const { rules } = needs;
  const isWriter = access === "write";
  const check = (opened: Environment): void => checkRules(opened, rules, { writes: isWriter });
  const environment = openEnvironment(options.dataDir, rules.network.network.nethash, { access, disposable, writes: needs.writes, check });
  const tipState = createTipCache(environment);
  const searches = createSearches(needs.searches);
  const views = createViews({ environment, rules, openTransaction: isWriter ? openNewest : openTransaction, tipState });
  if (isWriter) views.show(views.ofLastCommit());
  const revertedAt = createRevertedAt(needs);
  const marks = createChainMarks(environment, { isWriter, views, revertedAt });
  const reads = createStoreReads({ isWriter, history, views, marks, searches });
  const { close, ...writing } = createStoreWrites({ ...needs, undoBlocks, history, isWriter, environment, views, marks, revertedAt });

  /** lmdb-js by itself reuses a read transaction until the event loop has turned, and would miss what another process commits meanwhile. */
  const readTip = (): Tip | undefined => {
    environment.root.resetReadTxn();
    return tipState()?.tip;
  };

  return {
    environment,
    supports: { history },
    ...reads,
    ...writing,
    ...{ isComplete: marks.isComplete, disown: marks.disown, disowned: marks.disowned },
    tip: isWriter ? () => views.ofNow()?.state.tip : readTip,
    completeTip: () => (marks.isComplete() ? (isWriter ? views.ofNow()?.state.tip : tipState()?.tip) : undefined),
    idAt: (height) => {
      const view = views.ofNow();
      return view && idIn(view, height);
    },
    firstOtherReward: (from) => {
      const view = views.ofNow();
      return view && firstOtherReward(view.reading, rules, from, view.state.tip.height);
    },
    canRevertTo: (height) => {
      const view = views.ofNow();
      return view === undefined || lowestRevertible(view.reading, view.state.tip.height, height) <= height;
    },
    rebuilding: () => {
      if (!isWriter) environment.root.resetReadTxn();
      const found = isWriter ? marks.rebuild : readRebuild(environment);
      return found && { ...found, height: tipState()?.tip.height ?? 0 };
    },
    markComplete: () => {
      marks.markComplete();
      needs.changed?.();
    },
    freePages: () => {
      environment.root.readerCheck();
      views.refresh();
      // For readers in other processes, who may see an older state (transact.js) until something is committed. A failure will recur with
      // the next block.
      if (isWriter) environment.commit(noEntries).catch(() => undefined);
    },
    stop: async () => {
      await Promise.all([searches.stop(), close()]);
      views.forget();
      await environment.close();
    },
  };
};
