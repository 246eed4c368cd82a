import type { Block, Tip } from "../../../types/chain.js";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import type { FullBlock } from "../../chain/block.js";
import type { ChainRules } from "../../chain/rules.js";
import type { FullClock } from "../../clock.js";
import { messageOf, PorticoError } from "../../errors.js";
import type { Problems } from "../../problems.js";
import { runSliced, type Pace } from "../../async/time-slicing.js";
import { createBatchedApply, createProgress, type Progress, silentProgress } from "./batch-apply.js";
import { createGoingBack } from "./going-back.js";
import { firstWhere } from "../records/binary-search.js";
import { createRewardCheck } from "./reward-check.js";
import { follows, headerOfWhole } from "./runs.js";
import { createSourceReads } from "./source-reads.js";
import type { Store } from "../state/store.js";

export interface CatchingUpNeeds {
  store: Store;
  rules: ChainRules;
  source: BlockSource | undefined;
  logger: Logger;
  clock: FullClock;
  onProgress: ((progress: IndexingProgress) => void) | undefined;
  problems: Problems;
}

/** Brings the store to where the host's chain is. One call at a time; each rejects with what keeps it from getting there. */
export interface CatchingUp {
  /** Writes genesis into an empty store, and goes on with a rebuild that the end of the process interrupted. */
  begin(): Promise<void>;
  /** Leaves what the source no longer has, then writes what it has beyond the tip. The store is then complete. */
  catchUp(): Promise<void>;
  /** Compares the tip with the source, and catches up if it has another, or still has one beyond. Returns whether the store is at its end. */
  look(): Promise<boolean>;
  /** Reverts the tip if the host emitted it but was killed before its database had it. */
  takeOutUnsaved(): Promise<void>;
  /** Writes blocks that follow one another, which the host has applied. Returns whether the store lacked any of them. */
  applyRun(run: readonly BlockData[]): Promise<boolean>;
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

type BlockName = Pick<Block, "height" | "id">;

/** Blocks asked of the source at a time. */
const readSize = 500;
/** Milliseconds between two lines of the log while the store is rebuilt. */
const toldEvery = 30_000;

export const createCatchingUp = ({ store, rules, source: blocks, logger, clock, onProgress, problems }: CatchingUpNeeds): CatchingUp => {
  const source = createSourceReads(blocks);
  const { read, isStopped } = source;
  let noteCompared: () => void = () => undefined;
  const compared = new Promise<void>((resolve) => (noteCompared = resolve));
  const silent = silentProgress(clock);
  let current: Progress = silent;
  /** The height from which on the host has just applied blocks, which may have to be read from the source. */
  let liveFrom = Infinity;
  /** Highest block of the store's that the source has had since the store was opened, and where the source ends if it no longer has that. */
  let [seen, shrunkTo] = [0, undefined as number | undefined];
  /** The source's block beyond the tip when it was last looked at. */
  let beyondTip: string | undefined;
  let toldAt = clock.monotonic();

  const tellRebuild = (): void => {
    const rebuild = store.rebuilding();
    if (rebuild === undefined || clock.monotonic() - toldAt < toldEvery) return;
    toldAt = clock.monotonic();
    const target = current.target();
    logger.info(`the store is being rebuilt: height ${rebuild.height}${target === undefined ? "" : ` of ${target}`}`);
  };

  /** A host that fails to show its progress makes progress all the same. */
  const report = (progress: IndexingProgress): void => {
    tellRebuild();
    try {
      onProgress?.(progress);
    } catch (error) {
      logger.warn(`onProgress: ${messageOf(error)}`);
    }
  };

  const parse = (data: BlockData, pace: Pace): Promise<FullBlock> => runSliced(rules.parseBlockSliced(data), pace);
  const applyAll = createBatchedApply(store, parse, isStopped, () => checkRewards());
  const begin = async (): Promise<void> => store.apply([await parse(rules.network.genesisBlock, "cooperative")]);
  const { idAt, has, findFork, toFork, toHeight, resume } = createGoingBack({ store, source, hasSource: blocks !== undefined, logger, begin, onRebuild: noteCompared });

  const checkRewards = createRewardCheck({ store, idAt, problems });

  /** The lowest of the store's blocks that the host has left, and that could not be left here yet. */
  let disowned = store.disowned();
  const setDisowned = (block: BlockName | undefined): void => {
    disowned = block;
    store.disown(block);
  };
  const leaveBlock = async (block: BlockName): Promise<void> => {
    if (disowned === undefined || block.height < disowned.height) disowned = block;
    try {
      await toHeight(disowned.height - 1);
    } catch (error) {
      setDisowned(disowned);
      throw error;
    }
    seen = Math.min(seen, store.tip()?.height ?? 0);
    if (!isStopped()) setDisowned(undefined);
  };
  const leaveDisowned = async (): Promise<void> => {
    const block = disowned;
    if (block === undefined) return;
    const isKept = !has(block) || (store.tip()?.id !== block.id && (await source.at(block.height))?.id === block.id);
    if (isStopped()) return;
    if (isKept) setDisowned(undefined);
    else await leaveBlock(block);
  };

  /** Only that one block: a source that ends further below is behind, or holds a part of the chain, and the store keeps what it has. */
  const takeOutUnsaved = async (): Promise<void> => {
    const tip = store.tip();
    if (blocks === undefined || tip === undefined || tip.height === 1) return;
    const [last, ...beyond] = await read(tip.height - 1, 2);
    if (last === undefined || beyond.length > 0 || last.id !== idAt(tip.height - 1) || isStopped()) return;
    logger.info(`block ${tip.height} (${tip.id}) is not in the host's chain: reverted`);
    await store.revert();
  };

  const finish = (): void => {
    if (isStopped() || store.isComplete()) return;
    const rebuild = store.rebuilding();
    if (rebuild !== undefined && rebuild.height < rebuild.fork) {
      throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `the block source ends at height ${rebuild.height}, but it had ${rebuild.fork} blocks when the store began to be rebuilt from it`);
    }
    store.markComplete();
    if (rebuild !== undefined) logger.info(`the store is rebuilt, up to block ${rebuild.height}`);
  };

  /** Leaves the blocks that the source does not have, if it has others instead. Returns whether it did: if not, the source is behind. */
  const leave = async (tip: Tip, isOther: boolean): Promise<boolean> => {
    const fork = await findFork();
    if (isStopped()) return false;
    if (fork.goesOn) {
      await toFork(fork.height);
      seen = Math.min(seen, fork.height);
      return true;
    }
    shrunkTo = fork.height < seen ? fork.height : undefined;
    // A source that lacks blocks below: of this one it is known that the chain does not have it.
    if (isOther) await toHeight(tip.height - 1);
    return isOther;
  };

  const applyBeyond = async (beyond: readonly BlockData[], progress: Progress): Promise<void> => {
    const firstLive = firstWhere(0, beyond.length, (place) => (beyond[place]?.height ?? 0) >= liveFrom);
    if (firstLive > 0) await applyAll(beyond.slice(0, firstLive), progress);
    if (firstLive < beyond.length) await applyAll(beyond.slice(firstLive), { ...progress, appliedAt: clock.now });
  };

  const catchUp = async (): Promise<void> => {
    await store.tell();
    await leaveDisowned();
    if (blocks === undefined) return finish();
    const progress = (current = createProgress(blocks, clock, report));
    while (!isStopped()) {
      const tip = store.tip();
      const found = await read(tip?.height ?? 1, readSize);
      if (isStopped()) return;
      const known = found[0];
      const isOther = tip !== undefined && known?.height === tip.height && known.id !== tip.id;
      if (tip !== undefined && (known === undefined || isOther)) {
        const left = await leave(tip, isOther);
        noteCompared();
        if (left) continue;
        return finish();
      }
      noteCompared();
      shrunkTo = undefined;
      const beyond = tip === undefined ? found : found.filter(({ height }) => height > tip.height);
      if (beyond.length === 0) {
        if (tip !== undefined && tip.height >= liveFrom) liveFrom = Infinity;
        seen = Math.max(seen, tip?.height ?? 0);
        return finish();
      }
      await applyBeyond(beyond, progress);
    }
  };

  const look = async (): Promise<boolean> => {
    const tip = store.tip();
    if (blocks === undefined || tip === undefined) return false;
    const [known, next] = await read(tip.height, 2);
    if (isStopped()) return false;
    // A block that the host's database has just got is left to the host to emit, until the next look.
    const isNew = next !== undefined && next.id !== beyondTip;
    beyondTip = next?.id;
    if (known?.id !== tip.id || (next !== undefined && !isNew)) await catchUp();
    else seen = Math.max(seen, tip.height);
    return !isNew;
  };

  /** Leaves the blocks from a height on, unless the source still has them: then the host's event is out of date. */
  const dropFrom = async (height: number): Promise<void> => {
    if (height <= 1 || height > (store.tip()?.height ?? 0)) return;
    const [id, known] = [idAt(height), await source.at(height)];
    if (id !== undefined && !isStopped() && known?.id !== id) await leaveBlock({ height, id });
  };

  /** The blocks of a run that the store does not have. If it has one, it has all before it. */
  const lacking = (run: readonly BlockData[]): readonly BlockData[] => run.slice(firstWhere(0, run.length, (place) => !has(run[place])));

  /** Blocks that follow the tip and bring all their transactions need no source. */
  const applyDirectly = async (run: readonly BlockData[]): Promise<void> => {
    const tip = store.tip();
    const first = run[0] && headerOfWhole(run[0]);
    if (tip !== undefined && first !== undefined && follows(first, tip)) await applyAll(run, silent);
  };

  const applyLacking = async (run: readonly BlockData[]): Promise<boolean> => {
    const [first] = lacking(run);
    if (first === undefined) return false;
    await dropFrom(first.height);
    try {
      await applyDirectly(lacking(run));
    } catch (error) {
      if (blocks === undefined) throw error;
    }
    if (lacking(run).length === 0) return true;
    // It stays so until the source has the block: hosts emit one before their database has it, and a later try reads it.
    liveFrom = Math.min(liveFrom, first.height);
    await catchUp();
    // A source that lags may have had what was missing before them.
    await applyDirectly(lacking(run));
    return true;
  };

  return {
    begin: async () => {
      await resume();
      if (store.tip() === undefined && !isStopped()) await begin();
      checkRewards();
    },
    catchUp,
    look,
    takeOutUnsaved,
    applyRun: async (run) => {
      const lackedAny = await applyLacking(run);
      const last = run.at(-1);
      // The host is back on a chain that it had left.
      if (disowned !== undefined && last !== undefined && last.height >= disowned.height && has(last)) setDisowned(undefined);
      return lackedAny;
    },
    takeOut: async ({ id, height }) => {
      if (idAt(height) !== id) return;
      if (store.tip()?.id === id) await leaveBlock({ height, id });
      else await dropFrom(height);
    },
    checkRewards,
    idAt,
    compared,
    shrunkTo: () => shrunkTo,
    target: () => current.target(),
    stop: source.stop,
  };
};
