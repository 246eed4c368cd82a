import type { Block, Tip } from "../../types/chain.js";
import type { BlockData, BlockSource, HostEvents, IndexingProgress } from "../../types/events.js";
import type { Clock, Logger } from "../../types/node-context.js";
import { type FullBlock, parseBlockHeader } from "../chain/block.js";
import type { ChainRules } from "../chain/rules.js";
import { messageOf, PorticoError } from "../errors.js";
import { inTurns, type Pace } from "../steps.js";
import { createBatchedApply, createProgress, silent } from "./batched-apply.js";
import { firstWhere } from "./halving.js";
import { createRetrying } from "./retrying.js";
import type { Store } from "./store.js";

export interface FollowerNeeds {
  store: Store;
  rules: ChainRules;
  events: HostEvents;
  source: BlockSource | undefined;
  logger: Logger;
  clock: Clock;
  onProgress: ((progress: IndexingProgress) => void) | undefined;
}

/** Keeps the store at the host's tip. */
export interface Follower {
  /**
   * Writes genesis into an empty store and reads what is missing from the block source. Resolves when the store can answer: at once if
   * it was complete before, else when it has reached the end of the source.
   * @throws PorticoError when the first reading of the chain fails; the store keeps every good block before the failure.
   */
  start(): Promise<void>;
  /** Resolves when all that the host has emitted so far is written, or could not be. */
  settled(): Promise<void>;
  /** Why a block cannot be written at present; undefined if nothing is wrong. */
  problem(): string | undefined;
  /** Whether the store has ever been complete. */
  isReady(): boolean;
  stop(): Promise<void>;
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
const runsOf = (told: readonly BlockData[]): BlockData[][] => {
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

export const createFollower = ({ store, rules, events, source, logger, clock, onProgress }: FollowerNeeds): Follower => {
  let queue: Promise<void> = Promise.resolve();
  let stopped = false;
  const isStopped = (): boolean => stopped;
  /** What the host applied last: until the store reaches its height, the store is behind. */
  let awaited: Tip | undefined;
  /** Blocks of the turn that was queued last, until it begins: what the host applies meanwhile joins them. */
  let gathered: BlockData[] | undefined;
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

  const retrying = createRetrying(() => enqueue(caughtUp), logger);

  /** `work` returns whether the store is where the host is. */
  const attempt = (work: () => Promise<boolean>): Promise<void> =>
    retrying.attempt(async () => {
      const isThere = await work();
      requireAwaited();
      return isThere;
    });

  /** One thing at a time, in order of arrival. */
  const enqueue = (work: () => Promise<boolean>): void => {
    queue = queue.then(() => attempt(work));
  };

  /** Work of `start`, whose caller waits for it and is told if it fails. */
  const atFirst = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(async () => {
      if (!isStopped()) await work();
    });
    queue = done.catch(() => undefined);
    return done;
  };

  const parse = (data: BlockData, pace: Pace): Promise<FullBlock> => inTurns(rules.parseBlockInSteps(data), pace);
  const applyAll = createBatchedApply(store, parse, isStopped);

  /** Reads from the source. One that does not answer must not keep `stop` waiting: the read then resolves with nothing. */
  const read = (from: number, limit: number): Promise<BlockData[]> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve([]);
      Promise.resolve(source === undefined || stopped ? [] : source.read(from, limit)).then(resolve, reject);
    });

  /**
   * Reverts the tip if the host emitted it but was killed before its database had it. Only that one block: a source that ends further
   * below is behind, or holds a part of the chain, and is no reason to throw away what the store has.
   */
  const takeOutUnsaved = async (): Promise<void> => {
    const tip = store.tip();
    if (source === undefined || tip === undefined || tip.height === 1) return;
    const [last, ...beyond] = await read(tip.height - 1, 2);
    if (last === undefined || beyond.length > 0 || last.id !== idAt(tip.height - 1) || stopped) return;
    logger.info(`block ${tip.height} (${tip.id}) is not in the host's chain: reverted`);
    await store.revert();
  };

  /** Reverts what the source no longer has, then writes what it has beyond the tip. */
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

  const caughtUp = async (): Promise<boolean> => {
    await catchUp();
    return true;
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

  /** A run that the store has already shows nothing: the host may be repeating itself. */
  const applyRun = async (run: readonly BlockData[]): Promise<boolean> => {
    awaited = parseBlockHeader(run.at(-1));
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

  const onApplied = (payload?: unknown): void => {
    const data = payload as BlockData;
    if (gathered !== undefined) return void gathered.push(data);
    const blocks = (gathered = [data]);
    queue = queue.then(async () => {
      if (gathered === blocks) gathered = undefined;
      for (const run of runsOf(blocks)) await attempt(() => applyRun(run));
    });
  };

  const requireAwaited = (): void => {
    if (stopped || awaited === undefined) return;
    if ((store.tip()?.height ?? 0) < awaited.height) throw missing(awaited);
    awaited = undefined;
  };

  const missing = ({ height, id }: Tip): PorticoError =>
    new PorticoError(
      "BLOCK_DOES_NOT_CHAIN",
      source === undefined
        ? `block ${height} (${id}) does not follow the tip, or came without its transactions, and there is no block source to ask`
        : `the block source does not have block ${height} (${id}), which the host has applied`,
    );

  const takeOut = async (payload: unknown): Promise<void> => {
    const { id, height } = parseBlockHeader(payload as BlockData);
    if (awaited !== undefined && awaited.height >= height) awaited = undefined;
    if (idAt(height) !== id) return;
    if (store.tip()?.id === id && height > 1) await store.revert();
    else await dropFrom(height);
  };

  const onReverted = (payload?: unknown): void => {
    // What is applied from now on must not be written before this is reverted.
    gathered = undefined;
    enqueue(async () => {
      await takeOut(payload);
      // Where the host is then is not known: its database may have the block for a moment longer.
      return false;
    });
  };

  return {
    start: async () => {
      events.on("block.applied", onApplied);
      events.on("block.reverted", onReverted);
      if (store.tip() === undefined) await atFirst(async () => store.apply([await parse(rules.network.genesisBlock, "hurried")]));
      if (store.isComplete()) {
        enqueue(async () => {
          await takeOutUnsaved();
          return caughtUp();
        });
        return;
      }
      await atFirst(catchUp);
      if (!stopped) store.markComplete();
    },
    settled: async () => {
      let last: Promise<void> | undefined;
      while (last !== queue) {
        last = queue;
        await last;
      }
    },
    problem: retrying.problem,
    isReady: () => store.isComplete(),
    stop: async () => {
      stopped = true;
      giveUp?.();
      events.off("block.applied", onApplied);
      events.off("block.reverted", onReverted);
      retrying.stop();
      await queue;
    },
  };
};
