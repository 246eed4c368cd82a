import type { BlockData, BlockSource } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import type { BlockLog } from "./block-log.js";
import { type ChainFile, openChainFile } from "./chain-file.js";
import { HostError } from "./host-error.js";

/** The host's whole chain: genesis, the imported blocks and those that this node forged. */
export interface ChainSource extends BlockSource {
  height(): number;
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
}

/** Opens a chain file for a network. @throws HostError, also if it holds the chain of another network */
export const openImport = async (path: string, { network, genesisBlock }: Network): Promise<ChainFile> => {
  const file = await openChainFile(path);
  const { height, id } = file.firstBlock;
  if (height === 1 && id === genesisBlock.id) return file;
  await file.close();
  throw new HostError(
    height === 1
      ? `${path}, line 1: the chain begins with block ${id}; genesis of ${network.name} is ${genesisBlock.id}.`
      : `${path}, line 1: the chain begins at height ${height}, not with genesis.`,
  );
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
