import { type FileHandle, open } from "node:fs/promises";
import type { BlockData, BlockSource } from "../../../types/events.js";
import { cannotRead, HostError, messageOf } from "../program/host-error.js";
import { createLineReader, type Line } from "./line-reader.js";

/**
 * A chain in a file: one block with its transactions per line, without gaps in height. It is read as a stream; the place to resume is
 * found by bisecting the file, so that resuming is cheap at any size.
 */
export interface ChainFile extends BlockSource {
  readonly path: string;
  /** Height of the first line's block. */
  readonly first: number;
  /** Height of the last line's block. */
  height(): number;
  /** The block of the first line. */
  readonly firstBlock: BlockData;
  /** The file and line of a block. */
  where(height: number): string;
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  close(): Promise<void>;
}

/** Bytes of lines after which an answer ends, however many blocks were asked for. */
const batchBytes = 8 << 20;

const isBlock = (value: unknown): value is BlockData =>
  typeof value === "object" &&
  value !== null &&
  "height" in value &&
  Number.isSafeInteger(value.height) &&
  "id" in value &&
  typeof value.id === "string" &&
  "transactions" in value &&
  Array.isArray(value.transactions);

/** The block of a line, or what is wrong with it. */
const parse = (line: Line): BlockData | string => {
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return line.ended ? `the line is not valid JSON (${messageOf(error)})` : "the line is truncated";
  }
  return isBlock(value) ? value : "the line is not a block with id, height and transactions";
};

const openFile = async (path: string): Promise<{ file: FileHandle; size: number }> => {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    if (stat.isFile()) return { file, size: stat.size };
    await file.close();
  } catch (error) {
    throw cannotRead(path, error);
  }
  throw new HostError(`${path} is not a file.`);
};

/** @throws HostError that names the file, and the line if one is at fault */
export const openChainFile = async (path: string): Promise<ChainFile> => {
  const { file, size } = await openFile(path);
  const reader = createLineReader(file, path);

  const lineAt = async (start: number): Promise<Line> => {
    const line = await reader.lineAt(start);
    if (line === undefined) throw new HostError(`${path} contains no block.`);
    return line;
  };

  const blockAt = async (start: number, line?: Line): Promise<BlockData> => {
    const block = parse(line ?? (await lineAt(start)));
    if (typeof block === "string") throw new HostError(`${path}, line ${await reader.numberAt(start)}: ${block}.`);
    return block;
  };

  const readEnds = async () => ({ firstBlock: await blockAt(0), last: (await blockAt(await reader.lastStart(size))).height });
  const { firstBlock, last } = await readEnds().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  const first = firstBlock.height;
  const where = (height: number): string => `${path}, line ${height - first + 1}`;

  /** The position of reading, and what the next line must hold. */
  let next = { height: first, start: 0, previous: undefined as string | undefined };

  /** Bisects the file for the line of a height; heights ascend without gaps. */
  const seek = async (height: number): Promise<{ height: number; start: number; previous: string | undefined }> => {
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const start = await reader.startAfter(middle);
      const line = start < high ? await reader.lineAt(start) : undefined;
      if (line === undefined) {
        high = middle;
        continue;
      }
      const found = (await blockAt(line.start, line)).height;
      if (found === height) return { height, start: line.start, previous: undefined };
      if (found < height) low = line.end;
      else high = middle;
    }
    throw new HostError(`${path} contains no block of height ${height}, although it begins at height ${first} and ends at height ${last}.`);
  };

  const check = (block: BlockData): void => {
    if (block.height !== next.height) throw new HostError(`${where(next.height)}: the block's height is ${block.height}, not ${next.height}.`);
    if (next.previous !== undefined && block.previousBlock !== next.previous) {
      throw new HostError(
        `${where(next.height)}: block ${block.height} does not follow the one before it: its previousBlock is ${String(block.previousBlock)}, not ${next.previous}.`,
      );
    }
    if (block.numberOfTransactions !== block.transactions?.length) {
      throw new HostError(
        `${where(next.height)}: block ${block.height} declares ${block.numberOfTransactions} transactions but contains ${String(block.transactions?.length)}.`,
      );
    }
  };

  const readNext = async (): Promise<{ block: BlockData; bytes: number } | undefined> => {
    const line = await reader.lineAt(next.start);
    if (line === undefined) return undefined;
    const block = parse(line);
    if (typeof block === "string") throw new HostError(`${where(next.height)}: ${block}.`);
    check(block);
    next = { height: block.height + 1, start: line.end, previous: block.id };
    return { block, bytes: line.end - line.start };
  };

  const read = async (fromHeight: number, limit: number): Promise<BlockData[]> => {
    if (fromHeight < first || fromHeight > last) return [];
    if (fromHeight !== next.height) {
      // From the previous block, if there is one, so that the first block asked for is checked against it.
      next = await seek(Math.max(first, fromHeight - 1));
      if (next.height < fromHeight) await readNext();
    }
    const blocks: BlockData[] = [];
    for (let bytes = 0; blocks.length < limit && bytes < batchBytes; ) {
      // Blocks before a broken line are good: they are returned, and the next call meets the line. But a single block is not returned
      // this way: a follower asks from the last block that it has, and would take that answer for the end of the chain.
      const step = await readNext().catch((error: unknown) => {
        if (blocks.length < 2) throw error;
        return undefined;
      });
      if (step === undefined) break;
      blocks.push(step.block);
      bytes += step.bytes;
    }
    return blocks;
  };

  return { path, first, firstBlock, height: () => last, where, read, close: () => file.close() };
};
