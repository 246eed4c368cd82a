import type { Tip } from "../../../types/chain.js";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import type { FullClock } from "../../async/clock.js";
import { type Pace, runSliced } from "../../async/time-slicing.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import type { ChainRules } from "../../chain/rules.js";
import { messageOf, PorticoError } from "../../errors.js";
import type { Problems } from "../../operate/problems.js";
import type { Store } from "../state/store.js";
import type { BlockName } from "../state/store-contract.js";
import { createApplyRun, type EmittedBlock } from "./apply-run.js";
import { createBatchedApply, createProgress, createReadOn, type Progress, silentProgress, type SourceExtent } from "./read-on.js";
import { createDisowned, createGoingBack } from "./going-back.js";
import { createSourceReads, type SourceNode, type SourceReads } from "./source.js";

interface RewardCheckNeeds {
  store: Pick<Store, "tip" | "firstOtherReward">;
  /** Id of the store's block at a height. */
  idAt(height: number): string | undefined;
  problems: Problems;
}

/**
 * Compares the rewards of blocks with the milestones'. The state is computed from the blocks' own, and so it is right; but a chain with
 * others belongs to another network than the host says, whose constants and delegates are then served beside it.
 * Returns what is to be called when the chain has changed.
 */
const createRewardCheck = ({ store, idAt, problems }: RewardCheckNeeds): (() => void) => {
  const problem = problems.define({ level: "warn", kind: "diverged", begun: "the chain's rewards are not those of its network", ended: "the chain's rewards are those of its network again" });
  /** The tip when the chain was last looked at. */
  let checked: Tip | undefined;
  /** The block that was found. */
  let other: { height: number; id: string } | undefined;

  return () => {
    const tip = store.tip();
    if (tip === undefined || tip.id === checked?.id) return;
    if (other !== undefined && idAt(other.height) === other.id) return;
    if (other !== undefined) problem.end();
    const from = other === undefined && checked !== undefined && idAt(checked.height) === checked.id ? checked.height + 1 : 1;
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
  /** Id of the store's block at a height. */
  idAt(height: number): string | undefined;
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
const takeOutUnsaved = async ({ store, logger }: CatchingUpNeeds, source: SourceReads, idAt: CatchingUp["idAt"]): Promise<void> => {
  const tip = store.tip();
  if (tip === undefined || tip.height === 1) return;
  const [last, ...beyond] = await source.read(tip.height - 1, 2);
  if (last === undefined || beyond.length > 0 || last.id !== idAt(tip.height - 1) || source.isStopped()) return;
  logger.info(`block ${tip.height} (${tip.id}) is not in the host's chain: reverted`);
  await store.revert();
};

export const createCatchingUp = (needs: CatchingUpNeeds): CatchingUp => {
  const { store, rules, source: blocks, logger, clock, problems, node } = needs;
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
  const goingBack = createGoingBack({ store, source, hasSource, logger, begin, onRebuild: noteCompared, leaving: node?.leaving });
  const { idAt } = goingBack;
  const checkRewards = createRewardCheck({ store, idAt, problems });

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
      if (hasSource && node === undefined) await takeOutUnsaved(needs, source, idAt);
    },
    applyRun,
    takeOut,
    checkRewards,
    idAt,
    compared,
    shrunkTo: () => extent.shrunkTo,
    target: () => current.target(),
    stop: source.stop,
  };
};
