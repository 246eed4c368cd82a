import { createChainRules, parseAmount } from "portico/chain";
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

/** The block that a chain file must not have: its reward is not that of the network. */
type Fault = { height: number; message: string } | undefined;

/** Finds the first block whose reward is not the network's: balances would be those of one network, everything else that of another. */
export const createRewardCheck = (network: Network): ((blocks: readonly BlockData[]) => Fault) => {
  const { milestones } = createChainRules(network);
  const exempt = new Set(Array.isArray(network.exceptions.blocks) ? network.exceptions.blocks : []);
  const rewardAt = (height: number): bigint => parseAmount(milestones.at(height).reward);
  // What is no amount is refused where blocks are parsed.
  const rewardOf = ({ reward }: BlockData): bigint | undefined => (/^\d+$/.test(String(reward)) ? BigInt(String(reward)) : undefined);
  return (blocks) => {
    const wrong = blocks.find((block) => block.height > 1 && !exempt.has(block.id) && (rewardOf(block) ?? rewardAt(block.height)) !== rewardAt(block.height));
    if (wrong === undefined) return undefined;
    const { height, reward } = wrong;
    const remedy = "the chain of a fork needs the fork's network: --network DIR, a folder with its network.json, milestones.json, exceptions.json and genesisBlock.json";
    return { height, message: `block ${height} has the reward ${String(reward)}, but ${network.network.name} gives ${rewardAt(height)} at this height; ${remedy}` };
  };
};

/** Opens a chain file for a network. @throws HostError, also if it holds the chain of another network; so do reads, of a block with another reward */
export const openImport = async (path: string, network: Network): Promise<ChainFile> => {
  const file = await openChainFile(path);
  const check = createRewardCheck(network);
  const refusal = ({ height, message }: NonNullable<Fault>): HostError => new HostError(`${file.where(height)}: ${message}.`);

  const read = async (fromHeight: number, limit: number): Promise<BlockData[]> => {
    const blocks = await file.read(fromHeight, limit);
    const fault = check(blocks);
    if (fault === undefined) return blocks;
    // As in chain files: those before it are good, but one alone would be taken for the end of the chain.
    const good = blocks.filter(({ height }) => height < fault.height);
    if (good.length > 1) return good;
    throw refusal(fault);
  };

  const { height, id } = file.firstBlock;
  try {
    if (height !== 1) throw new HostError(`${path}, line 1: the chain begins at height ${height}, not with genesis.`);
    if (id !== network.genesisBlock.id) {
      throw new HostError(`${path}, line 1: the chain begins with block ${id}; genesis of ${network.network.name} is ${network.genesisBlock.id}.`);
    }
    // Most such chains are refused here, before anything is indexed. Whatever else is wrong is told in its turn.
    const fault = check(await file.read(file.height(), 1).catch(() => []));
    if (fault !== undefined) throw refusal(fault);
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
