import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { BlockData, BlockSource } from "../../types/events.js";
import { linesIn } from "../async/lines.js";
import { messageOf, PorticoError } from "../errors.js";
import type { LakeFiles } from "./lake-files.js";
import type { BlockFile } from "./manifest.js";

/** The blocks of a lake, in order, as a block source. */
export interface LakeReader extends BlockSource {
  /** Height of the last block in its files. */
  height(): number;
  /** At least one block where there is one; as many as are asked for, to the end of a file. @throws PorticoError LAKE_DAMAGED */
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  close(): Promise<void>;
}

const damaged = (message: string): PorticoError => new PorticoError("LAKE_DAMAGED", message);

async function* linesOf(local: string): AsyncGenerator<string> {
  const unpacked = createGunzip();
  // Its errors reach whoever reads.
  pipeline(createReadStream(local), unpacked, () => undefined);
  const rest = yield* linesIn(unpacked);
  if (rest !== "") yield rest;
}

/** The blocks of one file, each checked against the one before it. The file itself has been checked already. */
async function* blocksOf(local: string, { from, to, file, last }: BlockFile, path: string, previous: string | undefined): AsyncGenerator<BlockData, undefined> {
  let [height, before] = [from, previous];
  for await (const line of linesOf(local)) {
    const where = `${path}/${file}, line ${height - from + 1}`;
    let block: BlockData;
    try {
      block = JSON.parse(line) as BlockData;
    } catch (error) {
      throw damaged(`${where}: it is not JSON (${messageOf(error)})`);
    }
    if (block.height !== height) throw damaged(`${where}: the block's height is ${String(block.height)}, not ${height}`);
    if (before !== undefined && block.previousBlock !== before) throw damaged(`${where}: block ${height} does not follow block ${before}`);
    [height, before] = [height + 1, block.id];
    yield block;
  }
  if (height !== to + 1 || before !== last) throw damaged(`${path}/${file} ends with block ${height - 1} (${String(before)}), not with ${to} (${last}) as its manifest says`);
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
    close: async () => {
      await position?.blocks.return(undefined);
      position = undefined;
      await files.close();
    },
  };
};
