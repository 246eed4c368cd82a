import { createHash, randomUUID } from "node:crypto";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { inBackgroundProcess } from "../async/background-process.js";
import { makeFolder } from "../files/make-folder.js";

// Files that appear as a whole, under their name, and never change after that.

export interface Written {
  bytes: number;
  sha256: string;
}

export const readIfThere = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
};

/** Begins the names of files that are being written. */
export const draftMark = ".draft-";

const draftOf = (path: string): string => join(dirname(path), `${draftMark}${randomUUID()}`);

/** A rename is on the disk when the folder is. Windows has no such thing. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const whole = async <T>(path: string, write: (draft: string) => Promise<T>): Promise<T> => {
  makeFolder(dirname(path));
  const draft = draftOf(path);
  try {
    const result = await write(draft);
    await rename(draft, path);
    await syncFolder(dirname(path));
    return result;
  } finally {
    await rm(draft, { force: true });
  }
};

export const putFile = (path: string, bytes: Uint8Array): Promise<void> => whole(path, (draft) => writeFile(draft, bytes, { flush: true }));

/** Bytes that are compressed, and written, at a time. */
const chunkSize = 64 * 2 ** 10;

/** Bytes of a file written before they are flushed: whoever flushes beside it, as the node does its blocks, waits for all that is not. */
const flushEvery = 4 * 2 ** 20;

/** Writes what `source` gives into a file, compressed. */
export const gzipInto = async (path: string, source: AsyncIterable<string | Uint8Array>, signal?: AbortSignal): Promise<Written> => {
  const sum = createHash("sha256");
  let bytes = 0;
  let flushed = 0;
  const file = await open(path, "w");
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      sum.update(chunk);
      await file.writeFile(chunk);
      bytes += chunk.length;
      if (bytes - flushed < flushEvery) continue;
      await file.datasync();
      flushed = bytes;
    }
    await file.sync();
  };
  try {
    await pipeline(source, createGzip({ chunkSize }), write, { signal });
    return { bytes, sha256: sum.digest("hex") };
  } finally {
    await file.close();
  }
};

export const putGzip = (path: string, source: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Promise<Written> =>
  whole(path, (draft) => gzipInto(draft, source, signal));

/** What pack-process.ts is to do. */
export interface PackTask {
  from: string;
  to: string;
}

/** Writes a large file, compressed. A process of its own does it: it would hold a core of the node's for minutes. */
export const packFile = (path: string, from: string, signal: AbortSignal): Promise<Written> =>
  whole(
    path,
    async (to) => (await inBackgroundProcess("pack-process", import.meta.url, { from, to } satisfies PackTask, signal)) as Written,
  );
