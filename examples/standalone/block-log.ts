import { closeSync, fstatSync, ftruncateSync, fsyncSync, openSync, readSync, renameSync, statSync, writeSync } from "node:fs";
import type { BlockData, BlockSource } from "../../types/events.js";
import { type ChainFile, openChainFile } from "./chain-file.js";
import { HostError, messageOf } from "./host-error.js";

/**
 * The blocks that this node forged, appended to a chain file before anyone is told of them. Portico's store is made from
 * blocks; this is where it finds those that it had not written when the process died. The file can be imported elsewhere.
 */
export interface BlockLog extends BlockSource {
  /** Height of the last block there; 0 when there is none. */
  height(): number;
  /** @throws HostError when the block does not follow the last one, or the file cannot be written */
  append(block: BlockData): void;
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  close(): Promise<void>;
}

const newline = 0x0a;

/** Whoever follows the chain asks for the newest blocks: so many are answered from memory. */
const remembered = 200;

/** A process that dies while it writes leaves half a line behind: no one was told of that block, so it goes. */
const cutTornLine = (path: string): void => {
  const file = openSync(path, "a+");
  try {
    const { size } = fstatSync(file);
    const byte = Buffer.alloc(1);
    let end = size;
    while (end > 0 && readSync(file, byte, 0, 1, end - 1) === 1 && byte[0] !== newline) end--;
    if (end < size) ftruncateSync(file, end);
  } finally {
    closeSync(file);
  }
};

export const openBlockLog = async (path: string): Promise<BlockLog> => {
  try {
    cutTornLine(path);
  } catch (error) {
    throw new HostError(`${path} cannot be written: ${messageOf(error)}.`, { cause: error });
  }
  let written: ChainFile | undefined = statSync(path).size === 0 ? undefined : await openChainFile(path);
  let last = written?.height() ?? 0;
  const file = openSync(path, "a");
  const recent: BlockData[] = [];

  const append = (block: BlockData): void => {
    if (last !== 0 && block.height !== last + 1) throw new HostError(`${path} ends at height ${last}; block ${block.height} cannot follow.`);
    try {
      writeSync(file, `${JSON.stringify(block)}\n`);
    } catch (error) {
      throw new HostError(`${path} cannot be written: ${messageOf(error)}.`, { cause: error });
    }
    last = block.height;
    recent.push(block);
    if (recent.length > remembered) recent.shift();
  };

  const read = async (fromHeight: number, limit: number): Promise<BlockData[]> => {
    const [oldest] = recent;
    if (oldest !== undefined && fromHeight >= oldest.height) return recent.slice(fromHeight - oldest.height, fromHeight - oldest.height + limit);
    if (written === undefined || written.height() < last) {
      await written?.close();
      written = await openChainFile(path);
    }
    return written.read(fromHeight, limit);
  };

  const close = async (): Promise<void> => {
    await written?.close();
    fsyncSync(file);
    closeSync(file);
  };

  return { height: () => last, append, read, close };
};

/** Puts a log aside that no longer fits the chain it belongs to; nothing is thrown away. */
export const setLogAside = (path: string, height: number): string => {
  const aside = path.replace(/(\.ndjson)?$/, `.until-${height}.ndjson`);
  renameSync(path, aside);
  return aside;
};
