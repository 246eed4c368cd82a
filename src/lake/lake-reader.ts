import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { BlockData, BlockSource } from "../../types/events.js";
import { LineTooLong, linesIn } from "../async/lines.js";
import { messageOf } from "../errors.js";
import type { LakeFiles } from "./lake-files.js";
import { type BlockFile, damaged } from "./manifest.js";

/** The blocks of a lake, in order, as a block source. */
export interface LakeReader extends BlockSource {
  /** Height of the last block in its files. */
  height(): number;
  /** At least one block where there is one; as many as are asked for, to the end of a file. @throws PorticoError LAKE_DAMAGED */
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  /** The file and line of a block that it has. */
  where(height: number): string;
  close(): Promise<void>;
}

async function* linesOf(local: string): AsyncGenerator<string> {
  const unpacked = createGunzip();
  // Its errors reach whoever reads.
  pipeline(createReadStream(local), unpacked, () => undefined);
  const rest = yield* linesIn(unpacked);
  if (rest !== "") yield rest;
}

/** What the content of a file is at fault for; what the disk is, stays as it is. */
const isOfContent = (error: unknown): error is Error =>
  error instanceof LineTooLong ||
  (error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_"));

const lineOf = ({ file, from }: BlockFile, path: string, height: number): string => `${path}/${file}, line ${height - from + 1}`;

const parsed = (line: string, where: string): BlockData => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw damaged(`${where}: it is not JSON (${messageOf(error)})`);
  }
  if (typeof value !== "object" || value === null) throw damaged(`${where}: it is not a block`);
  return value as BlockData;
};

/** The blocks of one file, each checked against the one before it. The file itself has been checked already. */
async function* blocksOf(
  local: string,
  entry: BlockFile,
  path: string,
  previous: string | undefined,
): AsyncGenerator<BlockData, undefined> {
  const { to, file, last } = entry;
  let [height, before] = [entry.from, previous];
  let newest: BlockData | undefined;
  try {
    for await (const line of linesOf(local)) {
      const where = lineOf(entry, path, height);
      if (height > to) throw damaged(`${where}: the file goes on after block ${to}, its last one`);
      const block = parsed(line, where);
      if (block.height !== height) throw damaged(`${where}: the block's height is ${String(block.height)}, not ${height}`);
      if (before !== undefined && block.previousBlock !== before)
        throw damaged(`${where}: block ${height} does not follow block ${before}`);
      [height, before, newest] = [height + 1, block.id, block];
      if (height <= to) yield block;
    }
  } catch (error) {
    throw isOfContent(error) ? damaged(`${lineOf(entry, path, height)}: ${error.message}`) : error;
  }
  if (height <= to)
    throw damaged(`${path}/${file} ends with block ${height - 1} (${String(before)}), not with ${to} (${last}) as its manifest says`);
  if (before !== last) throw damaged(`${path}/${file} ends with block ${to} (${String(before)}), not ${last} as its manifest says`);
  // Only now: whoever has the last one goes on with the next file, and never meets what is wrong at the end of this one.
  if (newest !== undefined) yield newest;
  return undefined;
}

export const createLakeReader = (files: LakeFiles): LakeReader => {
  const { manifest, path } = files;
  const end = manifest.blocks.at(-1)?.to ?? 0;
  const perFile = manifest.blocks[0]?.to ?? 1;
  /** The block that was read last: who catches up begins each read with the one it has. */
  let newest: BlockData | undefined;
  /** Where reading goes on without beginning the file again. */
  let position: { next: number; blocks: AsyncGenerator<BlockData, undefined> } | undefined;

  const open = async (height: number): Promise<AsyncGenerator<BlockData, undefined>> => {
    await position?.blocks.return(undefined);
    position = undefined;
    const place = Math.floor((height - 1) / perFile);
    const file = manifest.blocks[place];
    if (file === undefined) throw new Error(`the lake has no block ${height}`);
    const blocks = blocksOf(await files.fetch(file), file, path, manifest.blocks[place - 1]?.last);
    position = { next: file.from, blocks };
    for (; position.next < height; position.next++) await blocks.next();
    return blocks;
  };

  const read = async (fromHeight: number, limit: number): Promise<BlockData[]> => {
    const found: BlockData[] = newest?.height === fromHeight && limit > 0 ? [newest] : [];
    while (found.length < limit && fromHeight + found.length <= end) {
      const height = fromHeight + found.length;
      try {
        const blocks = position?.next === height ? position.blocks : await open(height);
        const step = await blocks.next();
        if (step.done === true) position = undefined;
        else {
          found.push((newest = step.value));
          if (position !== undefined) position.next++;
        }
      } catch (error) {
        position = undefined;
        // The blocks before the fault are good, and the next call meets it. One alone would be taken for the end of the chain.
        if (found.length < 2) throw error;
        break;
      }
    }
    return found;
  };

  return {
    height: () => end,
    read,
    where: (height) => {
      const file = manifest.blocks[Math.floor((height - 1) / perFile)];
      return file === undefined ? path : lineOf(file, path, height);
    },
    close: async () => {
      await position?.blocks.return(undefined);
      position = undefined;
      await files.close();
    },
  };
};
