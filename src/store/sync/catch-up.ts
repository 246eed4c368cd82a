import type { Tip, Block } from "../../../types/chain.js";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import type { FullClock } from "../../async/clock.js";
import { type Pace, runSliced } from "../../async/time-slicing.js";
import { type FullBlock, parseBlockHeader } from "../../chain/blocks/block.js";
import type { ChainRules } from "../../chain/rules.js";
import { messageOf, PorticoError } from "../../errors.js";
import type { Problems } from "../../operate/problems.js";
import type { Store } from "../state/store.js";
import type { BlockName } from "../state/store-contract.js";
import {
  createBatchedApply,
  createProgress,
  createReadOn,
  type Progress,
  silentProgress,
  type SourceExtent,
  type SyncParts,
} from "./read-on.js";
import { createSourceReads, type SourceNode, type SourceReads } from "./source.js";
import { createDisowned, createGoingBack } from "./going-back.js";
import { firstWhere } from "../../text/first-where.js";

/** Whether a block brings all its transactions. */
const isWhole = ({ transactions }: BlockData, { numberOfTransactions }: Block): boolean =>
  (transactions?.length ?? 0) === numberOfTransactions;

const follows = ({ height, previousBlock }: Block, before: Tip): boolean => height === before.height + 1 && previousBlock === before.id;

/** A block as the host emitted it. */
export interface EmittedBlock {
  readonly data: BlockData;
  /** Undefined if that is not valid: a host may emit anything. */
  readonly header: Block | undefined;
  readonly isWhole: boolean;
}

const emittedBlock = (data: BlockData): EmittedBlock => {
  try {
    const header = parseBlockHeader(data);
    return { data, header, isWhole: isWhole(data, header) };
  } catch {
    return { data, header: undefined, isWhole: false };
  }
};

/** @throws PorticoError BLOCK_INVALID */
export const headerOf = ({ data, header }: EmittedBlock): Block => header ?? parseBlockHeader(data);

/**
 * Splits what the host emitted into runs that are written together: whole blocks that follow one another. A host that catches up
 * applies more of them in a second than could be written one by one. Whatever else it emitted stands alone.
 */
export const runsOf = (emitted: readonly BlockData[]): EmittedBlock[][] => {
  const runs: EmittedBlock[][] = [];
  let before: Block | undefined;
  for (const data of emitted) {
    const block = emittedBlock(data);
    const header = block.isWhole ? block.header : undefined;
    if (header !== undefined && before !== undefined && follows(header, before)) runs.at(-1)?.push(block);
    else runs.push([block]);
    before = header;
  }
  return runs;
};

interface ApplyRunNeeds extends SyncParts {
  hasSource: boolean;
  /** Whether a source that ends with what the host has just applied, below the tip, means that the host went back. */
  mayGoBack: boolean;
  /** The progress of blocks that the host applies now. */
  silent: Progress;
  catchUp(): Promise<void>;
}

/** Writes what the host has applied, and leaves what it has reverted. */
const createApplyRun = (needs: ApplyRunNeeds) => {
  const { store, source, hasSource, mayGoBack, goingBack, disowned, extent, silent, applyAll, catchUp } = needs;
  const { idAt } = store;
  const { has } = goingBack;

  /** Leaves the blocks from a height on, unless the source still has them: then the host's event is out of date. */
  const dropFrom = async (height: number): Promise<void> => {
    if (height <= 1 || height > (store.tip()?.height ?? 0)) return;
    const [id, known] = [idAt(height), await source.at(height)];
    if (id !== undefined && !source.isStopped() && known?.id !== id) await disowned.leave({ height, id });
  };

  /** The blocks of a run that the store does not have. If it has one, it has all before it. */
  const lacking = (run: readonly EmittedBlock[]): readonly EmittedBlock[] =>
    run.slice(firstWhere(0, run.length, (place) => !has(run[place]?.data)));

  /** Blocks that follow the tip and bring all their transactions need no source. */
  const applyDirectly = async (run: readonly EmittedBlock[]): Promise<void> => {
    const tip = store.tip();
    const first = run[0]?.isWhole === true ? run[0].header : undefined;
    if (tip !== undefined && first !== undefined && follows(first, tip)) await applyAll(run.map(({ data }) => data), silent);
  };

  const applyLacking = async (run: readonly EmittedBlock[]): Promise<boolean> => {
    const [first] = lacking(run);
    if (first === undefined) return false;
    await dropFrom(first.data.height);
    try {
      await applyDirectly(lacking(run));
    } catch (error) {
      if (!hasSource) throw error;
    }
    if (lacking(run).length === 0) return true;
    // It stays so until the source has the block: hosts emit one before their database has it, and a later try reads it.
    extent.liveFrom = Math.min(extent.liveFrom, first.data.height);
    await catchUp();
    // A source that lags may have had what was missing before them.
    await applyDirectly(lacking(run));
    return true;
  };

  /**
   * What the host says may have made the store begin to be rebuilt: it is complete only when it has been compared with the source to its
   * end.
   */
  const completed = async (): Promise<void> => {
    if (store.rebuilding() !== undefined && !source.isStopped()) await catchUp();
  };

  /**
   * Where the host has applied a block below the tip, and its source ends with it, the host went back while nobody listened. Either alone
   * would not do: an event may be late, and a source may lag.
   */
  const followBack = async ({ height, id }: BlockData): Promise<void> => {
    const above = idAt(height + 1);
    if (!mayGoBack || above === undefined || idAt(height) !== id) return;
    const [known, next] = await source.read(height, 2);
    if (known?.id === id && next === undefined && !source.isStopped()) await disowned.leave({ height: height + 1, id: above });
  };

  return {
    applyRun: async (run: readonly EmittedBlock[]): Promise<boolean> => {
      const lackedAny = await applyLacking(run);
      const last = run.at(-1);
      if (!lackedAny && last !== undefined) await followBack(last.data);
      await completed();
      disowned.applied(run.at(-1)?.data);
      return lackedAny;
    },
    takeOut: async ({ id, height }: { id: string; height: number }): Promise<void> => {
      if (idAt(height) !== id) return;
      if (store.tip()?.id === id) await disowned.leave({ height, id });
      else await dropFrom(height);
      await completed();
    },
  };
};

/**
 * Compares the rewards of blocks with the milestones'. The state is computed from the blocks' own, and so it is right; but a chain with
 * others belongs to another network than the host says, whose constants and delegates are then served beside it.
 * Returns what is to be called when the chain has changed.
 */
const createRewardCheck = ({ store, problems }: CatchingUpNeeds): (() => void) => {
  const problem = problems.define({ level: "warn", kind: "diverged", begun: "the chain's rewards are not those of its network", ended: "the chain's rewards are those of its network again" });
  /** The tip when the chain was last looked at. */
  let checked: Tip | undefined;
  /** The block that was found. */
  let other: { height: number; id: string } | undefined;

  return () => {
    const tip = store.tip();
    if (tip === undefined || tip.id === checked?.id) return;
    if (other !== undefined && store.idAt(other.height) === other.id) return;
    if (other !== undefined) problem.end();
    const from = other === undefined && checked !== undefined && store.idAt(checked.height) === checked.id ? checked.height + 1 : 1;
    const found = store.firstOtherReward(from);
    [checked, other] = [tip, found?.block];
    if (found === undefined) return;
    const { height, reward } = found.block;
    problem.begin(`block ${height} has the reward ${reward}, but \`network.milestones\` give ${found.expected} at this height: the chain belongs to another network`);
  };
};

export interface CatchingUpNeeds {
  store: Store;
  rules: ChainRules;
  source: BlockSource | undefined;
  logger: Logger;
  clock: FullClock;
  onProgress: ((progress: IndexingProgress) => void) | undefined;
  problems: Problems;
  /** Of a replica: the node whose chain the source has. */
  node?: SourceNode | undefined;
}

/** Brings the store to where the host's chain is. One call at a time; each rejects with what keeps it from getting there. */
export interface CatchingUp {
  /** Writes genesis into an empty store, and goes on with a rebuild that the end of the process interrupted. */
  begin(): Promise<void>;
  /** Leaves what the source no longer has, then writes what it has beyond the tip. The store is then complete. */
  catchUp(): Promise<void>;
  /**
   * Compares the tip with the source, and catches up if it has another, or still has one beyond. Returns whether the store is at its end.
   */
  look(): Promise<boolean>;
  /** Reverts the tip if the host emitted it but was killed before its database had it. */
  takeOutUnsaved(): Promise<void>;
  /** Writes blocks that follow one another, which the host has applied. Returns whether the store lacked any of them. */
  applyRun(run: readonly EmittedBlock[]): Promise<boolean>;
  /** Leaves a block, and what was written on it, unless the source still has it. */
  takeOut(block: BlockName): Promise<void>;
  /** To be called when blocks may have been reverted. */
  checkRewards(): void;
  /** Resolves when the store has been compared with the source for the first time, and is not served if it is to be rebuilt. */
  readonly compared: Promise<void>;
  /** The height at which a source ends that had the store's blocks above it before. */
  shrunkTo(): number | undefined;
  /** Height of the source when it was last asked. */
  target(): number | undefined;
  /** From then on nothing is written, and a read that the source has not answered is given up. */
  stop(): void;
}

/** Milliseconds between two lines of the log while the store is rebuilt. */
const toldEvery = 30_000;

/** Tells the host of progress, and the log of a rebuild's, now and then. */
const createReport = ({ store, logger, clock, onProgress }: CatchingUpNeeds) => {
  let toldAt = clock.monotonic();

  const tellRebuild = (target: number | undefined): void => {
    const rebuild = store.rebuilding();
    if (rebuild === undefined || clock.monotonic() - toldAt < toldEvery) return;
    toldAt = clock.monotonic();
    logger.info(`the store is being rebuilt: height ${rebuild.height}${target === undefined ? "" : ` of ${target}`}`);
  };

  /** A host that fails to show its progress makes progress all the same. */
  return (progress: IndexingProgress, target: number | undefined): void => {
    tellRebuild(target);
    try {
      onProgress?.(progress);
    } catch (error) {
      logger.warn(`onProgress: ${messageOf(error)}`);
    }
  };
};

/**
 * Reverts the tip if the source ends right below it. A source that ends further below is behind, or holds a part of the chain: the store
 * keeps what it has.
 */
const takeOutUnsaved = async ({ store, logger }: CatchingUpNeeds, source: SourceReads): Promise<void> => {
  const tip = store.tip();
  if (tip === undefined || tip.height === 1) return;
  const [last, ...beyond] = await source.read(tip.height - 1, 2);
  if (last === undefined || beyond.length > 0 || last.id !== store.idAt(tip.height - 1) || source.isStopped()) return;
  logger.info(`block ${tip.height} (${tip.id}) is not in the host's chain: reverted`);
  await store.revert();
};

export const createCatchingUp = (needs: CatchingUpNeeds): CatchingUp => {
  const { store, rules, source: blocks, logger, clock, node } = needs;
  const source = createSourceReads(blocks);
  const hasSource = blocks !== undefined;
  let noteCompared: () => void = () => undefined;
  const compared = new Promise<void>((resolve) => (noteCompared = resolve));
  const silent = silentProgress(clock);
  let current: Progress = silent;
  const report = createReport(needs);
  const startProgress = (from: BlockSource): Progress =>
    (current = createProgress(from, clock, (progress) => report(progress, current.target())));

  const parse = (data: BlockData, pace: Pace): Promise<FullBlock> => runSliced(rules.parseBlockSliced(data), pace);
  const applyAll = createBatchedApply(store, parse, source.isStopped, () => checkRewards());
  const begin = async (): Promise<void> => {
    const genesis = await parse(rules.network.genesisBlock, "cooperative").catch((cause: unknown) => {
      throw new PorticoError("BLOCK_INVALID", `\`network.genesisBlock\`: ${messageOf(cause)}`, { cause });
    });
    await store.apply([genesis]);
  };
  const goingBack = createGoingBack({ store, source, hasSource, logger, begin, onRebuild: noteCompared, fetchReversalTimes: node?.fetchReversalTimes });
  const checkRewards = createRewardCheck(needs);

  const extent: SourceExtent = { highest: store.tip()?.height ?? 0, shrunkTo: undefined, liveFrom: Infinity };
  const onLeft = (): void => {
    extent.highest = Math.min(extent.highest, store.tip()?.height ?? 0);
  };
  const disowned = createDisowned({ store, source, goingBack, onLeft });
  const parts = { store, source, goingBack, disowned, extent, applyAll };
  const { catchUp, look } = createReadOn({ ...parts, blocks, node, logger, clock, startProgress, noteCompared });
  const { applyRun, takeOut } = createApplyRun({ ...parts, hasSource, mayGoBack: hasSource && node === undefined, silent, catchUp });

  return {
    begin: async () => {
      await goingBack.resume();
      if (store.tip() === undefined && !source.isStopped()) await begin();
      checkRewards();
    },
    catchUp,
    look,
    takeOutUnsaved: async () => {
      if (hasSource && node === undefined) await takeOutUnsaved(needs, source);
    },
    applyRun,
    takeOut,
    checkRewards,
    compared,
    shrunkTo: () => extent.shrunkTo,
    target: () => current.target(),
    stop: source.stop,
  };
};
