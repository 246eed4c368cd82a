import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { makeFolder } from "../make-folder.js";

/** Files that appear as a whole, under their name, and never change after that. */

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

/** Writes what `source` gives, compressed. */
export const putGzip = (path: string, source: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Promise<Written> =>
  whole(path, async (draft) => {
    const sum = createHash("sha256");
    let bytes = 0;
    const measured = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        sum.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(source, createGzip(), measured, createWriteStream(draft, { flush: true }), { signal });
    return { bytes, sha256: sum.digest("hex") };
  });
