import { closeSync, existsSync, fstatSync, ftruncateSync, fsyncSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import type { BlockData, BlockSource } from "../../../types/events.js";
import { type ChainFile, openChainFile } from "./chain-file.js";
import { HostError, messageOf } from "../program/host-error.js";

/**
 * The blocks that this node forged, appended to a chain file before they are announced. If the process dies, Portico's store finds here
 * the blocks that it had not written yet. The file can be imported elsewhere.
 */
export interface BlockLog extends BlockSource {
  /** Height of the first block there; 0 when there is none. */
  first(): number;
  /** Height of the last block there; 0 when there is none. */
  height(): number;
  /** @throws HostError if the block does not follow the last one, or the file cannot be written */
  append(block: BlockData): void;
  read(fromHeight: number, limit: number): Promise<BlockData[]>;
  /** Renames the file to a name with `height` in it, and continues with an empty one. Returns the new name. */
  setAside(height: number): Promise<string>;
  close(): Promise<void>;
}

const newline = 0x0a;

/** Number of newest blocks kept in memory, since followers of the chain ask for those. */
const remembered = 200;

/** Cuts off half a line left by a process that died while writing; that block was never announced. Returns the remaining bytes. */
const cutTornLine = (path: string): number => {
  const file = openSync(path, "r+");
  try {
    const { size } = fstatSync(file);
    const byte = Buffer.alloc(1);
    let end = size;
    while (end > 0 && readSync(file, byte, 0, 1, end - 1) === 1 && byte[0] !== newline) end--;
    if (end < size) ftruncateSync(file, end);
    return end;
  } finally {
    closeSync(file);
  }
};

/** Appends all the bytes, or none: what a full disk has taken of a line would spoil the next one. Returns the new size. */
const appendWhole = (file: number, size: number, bytes: Buffer): number => {
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
  return size + bytes.length;
};

const unwritable = (path: string, error: unknown): HostError => new HostError(`${path} cannot be written: ${messageOf(error)}.`, { cause: error });

/** Opens what the file already holds; undefined if it is missing or empty. */
const openWritten = async (path: string): Promise<ChainFile | undefined> => {
  if (!existsSync(path)) return undefined;
  try {
    if (cutTornLine(path) === 0) return undefined;
  } catch (error) {
    throw unwritable(path, error);
  }
  return openChainFile(path);
};

/** Opens a log. The file is created with the first block. */
export const openBlockLog = async (path: string): Promise<BlockLog> => {
  let written = await openWritten(path);
  let first = written?.first ?? 0;
  let last = written?.height() ?? 0;
  let file: number | undefined;
  /** Bytes of the file, once it is open. */
  let size = 0;
  const recent: BlockData[] = [];

  const append = (block: BlockData): void => {
    if (last !== 0 && block.height !== last + 1) throw new HostError(`${path} ends at height ${last}; block ${block.height} cannot follow.`);
    try {
      if (file === undefined) {
        file = openSync(path, "a");
        size = fstatSync(file).size;
      }
      size = appendWhole(file, size, Buffer.from(`${JSON.stringify(block)}\n`));
    } catch (error) {
      throw unwritable(path, error);
    }
    if (first === 0) first = block.height;
    last = block.height;
    recent.push(block);
    if (recent.length > remembered) recent.shift();
  };

  const read = async (fromHeight: number, limit: number): Promise<BlockData[]> => {
    if (fromHeight > last) return [];
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
    written = undefined;
    if (file === undefined) return;
    fsyncSync(file);
    closeSync(file);
    file = undefined;
  };

  const setAside = async (height: number): Promise<string> => {
    await close();
    const aside = path.replace(/(\.ndjson)?$/, `.until-${height}.ndjson`);
    renameSync(path, aside);
    first = last = 0;
    recent.length = 0;
    return aside;
  };

  return { first: () => first, height: () => last, append, read, setAside, close };
};
