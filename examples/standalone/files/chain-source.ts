import { createChainRules } from "portico/chain";
import type { BlockData, BlockSource } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import type { BlockLog } from "./block-log.js";
import { type ChainFile, openChainFile } from "./chain-file.js";
import { HostError } from "../program/host-error.js";

/** The host's whole chain: genesis, the imported blocks and those that this node forged. */
export interface ChainSource extends BlockSource {
  height(): number;
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
}

/** Blocks that are read at a time to find the first with another reward. */
const searchSize = 500;

/**
 * Refuses blocks whose reward is not the network's: balances would be those of one network, everything else that of another. `read` gives
 * the chain's blocks up to the first of them.
 */
export const createRewardCheck = ({ read, where }: Pick<ChainFile, "read" | "where">, network: Network) => {
  const { rewardOf } = createChainRules(network);
  // What is no amount is refused where blocks are parsed.
  const isOther = (block: BlockData): boolean => /^\d+$/.test(String(block.reward)) && BigInt(String(block.reward)) !== (rewardOf(block) ?? BigInt(String(block.reward)));

  /** Those before the one that was met may be in the store already. */
  const firstUpTo = async (met: BlockData): Promise<BlockData> => {
    for (let from = 2; from < met.height; ) {
      const blocks = await read(from, searchSize).catch(() => []);
      const found = blocks.find(isOther);
      if (found !== undefined || blocks.length === 0) return found ?? met;
      from += blocks.length;
    }
    return met;
  };

  /** @throws HostError that names the first such block of the chain, if there is one among these */
  const refuseOther = async (blocks: readonly BlockData[]): Promise<void> => {
    const met = blocks.find(isOther);
    if (met === undefined) return;
    const { id, height, reward } = await firstUpTo(met);
    const remedy = "the chain of a fork needs the fork's network: --network DIR, a folder with its network.json, milestones.json, exceptions.json and genesisBlock.json";
    throw new HostError(`${where(height)}: block ${height} has the reward ${String(reward)}, but ${network.network.name} gives ${rewardOf({ height, id })} at this height; ${remedy}.`);
  };

  return {
    refuseOther,
    read: async (fromHeight: number, limit: number): Promise<BlockData[]> => {
      const blocks = await read(fromHeight, limit);
      // As in chain files: those before it are good, but one alone would be taken for the end of the chain.
      const end = blocks.findIndex(isOther);
      if (end > 1) return blocks.slice(0, end);
      await refuseOther(blocks);
      return blocks;
    },
  };
};

/** Opens a chain file for a network. @throws HostError, also if it holds the chain of another network; so do reads, of a block with another reward */
export const openImport = async (path: string, network: Network): Promise<ChainFile> => {
  const file = await openChainFile(path);
  const { read, refuseOther } = createRewardCheck(file, network);
  const { height, id } = file.firstBlock;
  try {
    if (height !== 1) throw new HostError(`${path}, line 1: the chain begins at height ${height}, not with genesis.`);
    if (id !== network.genesisBlock.id) {
      throw new HostError(`${path}, line 1: the chain begins with block ${id}; genesis of ${network.network.name} is ${network.genesisBlock.id}.`);
    }
    // Most such chains are refused here, before anything is indexed. Whatever else is wrong is told in its turn.
    await refuseOther(await file.read(file.height(), 1).catch(() => []));
  } catch (error) {
    await file.close();
    throw error;
  }
  return { ...file, read };
};

/**
 * Where the import and the node's own log both have a height, the import wins. `onBroken` is told of a file that cannot be read any
 * further: a reader of the source would only retry.
 */
export const createChainSource = (
  genesis: BlockData,
  { imported, log, onBroken }: { imported?: ChainFile; log: BlockLog; onBroken: (error: HostError) => void },
): ChainSource => {
  const end = imported?.height() ?? 1;

  const readLog = async (from: number, limit: number): Promise<BlockData[]> => {
    // If the import is not given this time, the log may begin right after `from`: its first block itself names the one it follows.
    const start = from + 1 === log.first() ? from + 1 : from;
    return limit > 0 && start >= log.first() ? log.read(start, limit) : [];
  };

  const readAll = async (from: number, limit: number): Promise<BlockData[]> => {
    if (from === 1) return [genesis, ...(await readAll(2, limit - 1))];
    const first = imported !== undefined && from <= end ? await imported.read(from, limit) : [];
    const reached = from + first.length;
    return reached <= end ? first : [...first, ...(await readLog(reached, limit - first.length))];
  };

  const read = async (from: number, limit: number): Promise<BlockData[]> => {
    try {
      return await readAll(from, limit);
    } catch (error) {
      if (error instanceof HostError) onBroken(error);
      throw error;
    }
  };

  return { read, height: () => Math.max(1, end, log.height()) };
};
