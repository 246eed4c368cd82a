import type { Block, Tip } from "../../../types/chain.js";
import type { BlockData, BlockSource, IndexingProgress } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import { type FullBlock, parseBlockHeader } from "../../chain/block.js";
import type { ChainRules } from "../../chain/rules.js";
import type { FullClock } from "../../clock.js";
import { messageOf, PorticoError } from "../../errors.js";
import { inTurns, type Pace } from "../../async/time-slicing.js";
import { createBatchedApply, createProgress, silent } from "./batch-apply.js";
import { firstWhere } from "../records/binary-search.js";
import type { Store } from "../state/store.js";

export interface CatchingUpNeeds {
  store: Store;
  rules: ChainRules;
  source: BlockSource | undefined;
  logger: Logger;
  clock: FullClock;
  onProgress: ((progress: IndexingProgress) => void) | undefined;
}

/** Brings the store to where the host's chain is. One call at a time; each rejects with what keeps it from getting there. */
export interface CatchingUp {
  /** Writes genesis into an empty store. */
  begin(): Promise<void>;
  /** Reverts what the source no longer has, then writes what it has beyond the tip. */
  catchUp(): Promise<void>;
  /** Reverts the tip if the host emitted it but was killed before its database had it. */
  takeOutUnsaved(): Promise<void>;
  /** Writes blocks that follow one another, which the host has applied. Returns whether the store lacked any of them. */
  applyRun(run: readonly BlockData[]): Promise<boolean>;
  /** Reverts a block, and what was written on it, unless the source still has it. */
  takeOut(block: Pick<Block, "id" | "height">): Promise<void>;
  /** From then on nothing is written, and a read that the source has not answered is given up. */
  stop(): void;
}

/** Blocks asked of the source at a time. */
const readSize = 500;

/** Whether a block brings all its transactions. */
const isWhole = ({ transactions }: BlockData, { numberOfTransactions }: Block): boolean => (transactions?.length ?? 0) === numberOfTransactions;

const follows = ({ height, previousBlock }: Block, before: Tip): boolean => height === before.height + 1 && previousBlock === before.id;

/** Undefined unless the block is valid and brings all its transactions: a host may emit anything. */
const headerOfWhole = (data: BlockData): Block | undefined => {
  try {
    const header = parseBlockHeader(data);
    return isWhole(data, header) ? header : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Splits what the host emitted into runs that are written together: whole blocks that follow one another. A host that catches up
 * applies more of them in a second than could be written one by one. Whatever else it emitted stands alone.
 */
export const runsOf = (told: readonly BlockData[]): BlockData[][] => {
  const runs: BlockData[][] = [];
  let before: Block | undefined;
  for (const data of told) {
    const header = headerOfWhole(data);
    if (header !== undefined && before !== undefined && follows(header, before)) runs.at(-1)?.push(data);
    else runs.push([data]);
    before = header;
  }
  return runs;
};

/**
 * The answer of a source, which may be anything. Blocks are checked one by one when they are parsed, but by then one without a height would
 * have been taken for one that the store has. @throws PorticoError BLOCK_INVALID
 */
const requireBlocks = (answer: unknown): BlockData[] => {
  if (!Array.isArray(answer)) throw new PorticoError("BLOCK_INVALID", "`blocks.read` must return a list of blocks, or a promise of one");
  const wrong = answer.findIndex((block: BlockData | undefined) => typeof block?.height !== "number");
  if (wrong === -1) return answer as BlockData[];
  // Those before it are good: they are written, and the next read meets it. One alone, which the store may have, would look like the source's end.
  if (wrong > 1) return answer.slice(0, wrong) as BlockData[];
  throw new PorticoError("BLOCK_INVALID", "`blocks.read` returned a block without a height: its blocks must have the members of those in events, and their transactions");
};

export const createCatchingUp = ({ store, rules, source, logger, clock, onProgress }: CatchingUpNeeds): CatchingUp => {
  let stopped = false;
  const isStopped = (): boolean => stopped;
  /** Gives up the read that the source has not answered yet. There is one at a time. */
  let giveUp: (() => void) | undefined;

  /** A host that fails to show its progress makes progress all the same. */
  const report = (progress: IndexingProgress): void => {
    try {
      onProgress?.(progress);
    } catch (error) {
      logger.warn(`onProgress: ${messageOf(error)}`);
    }
  };

  const parse = (data: BlockData, pace: Pace): Promise<FullBlock> => inTurns(rules.parseBlockInSteps(data), pace);
  const applyAll = createBatchedApply(store, parse, isStopped);

  /** Reads from the source. One that does not answer must not keep `stop` waiting: the read then resolves with nothing. */
  const read = (from: number, limit: number): Promise<BlockData[]> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve([]);
      Promise.resolve(source === undefined || stopped ? [] : source.read(from, limit)).then(requireBlocks).then(resolve, reject);
    });

  /** Only that one block: a source that ends further below is behind, or holds a part of the chain, and the store keeps what it has. */
  const takeOutUnsaved = async (): Promise<void> => {
    const tip = store.tip();
    if (source === undefined || tip === undefined || tip.height === 1) return;
    const [last, ...beyond] = await read(tip.height - 1, 2);
    if (last === undefined || beyond.length > 0 || last.id !== idAt(tip.height - 1) || stopped) return;
    logger.info(`block ${tip.height} (${tip.id}) is not in the host's chain: reverted`);
    await store.revert();
  };

  const catchUp = async (): Promise<void> => {
    await store.tell();
    if (source === undefined) return;
    const progress = createProgress(source, clock, report);
    while (!stopped) {
      const tip = store.tip();
      const from = tip?.height ?? 1;
      const found = await read(from, readSize);
      const known = found[0];
      if (isStopped() || known === undefined) return;
      if (tip !== undefined && known.height === tip.height && known.id !== tip.id) {
        if (tip.height === 1) throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `the block source begins with ${known.id}, but this network's genesis is ${tip.id}`);
        logger.info(`block ${tip.height} (${tip.id}) is no longer in the host's chain: reverted`);
        await store.revert();
        continue;
      }
      const beyond = tip === undefined ? found : found.filter(({ height }) => height > tip.height);
      if (beyond.length === 0) return;
      await applyAll(beyond, progress);
    }
  };

  const idAt = (height: number): string | undefined => {
    const chain = store.snapshot();
    try {
      const block = chain?.block({ height });
      return block === undefined || block instanceof Promise ? undefined : block.id;
    } finally {
      chain?.release?.();
    }
  };

  /** Reverts the blocks from a height on, unless the source still has them: then the host's event is out of date. */
  const dropFrom = async (height: number): Promise<void> => {
    if (height <= 1 || height > (store.tip()?.height ?? 0)) return;
    const [known] = await read(height, 1);
    if (stopped || (known !== undefined && known.id === idAt(height))) return;
    for (let tip = store.tip(); !isStopped() && tip !== undefined && tip.height >= height; tip = store.tip()) await store.revert();
  };

  const has = (block: BlockData | undefined): boolean => block !== undefined && idAt(block.height) === block.id;

  /** The blocks of a run that the store does not have. If it has one, it has all before it. */
  const lacking = (run: readonly BlockData[]): readonly BlockData[] => run.slice(firstWhere(0, run.length, (place) => !has(run[place])));

  /** Blocks that follow the tip and bring all their transactions need no source. */
  const applyDirectly = async (blocks: readonly BlockData[]): Promise<void> => {
    const tip = store.tip();
    const first = blocks[0] && headerOfWhole(blocks[0]);
    if (tip !== undefined && first !== undefined && follows(first, tip)) await applyAll(blocks, silent);
  };

  const applyRun = async (run: readonly BlockData[]): Promise<boolean> => {
    const [first] = lacking(run);
    if (first === undefined) return false;
    await dropFrom(first.height);
    try {
      await applyDirectly(lacking(run));
    } catch (error) {
      if (source === undefined) throw error;
    }
    if (lacking(run).length === 0) return true;
    await catchUp();
    // A source that lags may have had what was missing before them.
    await applyDirectly(lacking(run));
    return true;
  };

  return {
    begin: async () => store.apply([await parse(rules.network.genesisBlock, "hurried")]),
    catchUp,
    takeOutUnsaved,
    applyRun,
    takeOut: async ({ id, height }) => {
      if (idAt(height) !== id) return;
      if (store.tip()?.id === id && height > 1) await store.revert();
      else await dropFrom(height);
    },
    stop: () => {
      stopped = true;
      giveUp?.();
    },
  };
};
