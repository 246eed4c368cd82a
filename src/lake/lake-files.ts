import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { messageOf, PorticoError } from "../errors.js";
import { makeFolder } from "../files/make-folder.js";
import { withoutTrailing } from "../text/digits.js";
import { putFile, readIfThere } from "./files.js";
import {
  damaged,
  type Manifest,
  manifestFile,
  olderManifest,
  parseOlderManifest,
  parseManifest,
  sha256Of,
  type SnapshotFile,
} from "./manifest.js";
import type { Logger } from "../../types/node-context.js";
import { urlOf } from "../net/addresses.js";

/** A lake's files, in a folder or behind a URL, each checked against the manifest before it is read. */
export interface LakeFiles {
  /** Folder or URL, without a slash at its end. */
  readonly path: string;
  readonly manifest: Manifest;
  /** Of the bytes of the manifest, in hexadecimal digits. */
  readonly sha256: string;
  /**
   * Name of a file on this machine that holds what the manifest says. It lasts until the next call, or `close`. @throws PorticoError
   * LAKE_DAMAGED
   */
  fetch(file: { file: string; bytes: number; sha256: string }): Promise<string>;
  /** Notes its key and its manifest in the data folder: the next time, another key is refused, and earlier manifests are not read again. */
  remember(): Promise<void>;
  close(): Promise<void>;
}

export interface LakeDemands {
  nethash: string;
  /** The key that must have signed it, in base64. Default: that of the first lake seen from this data folder. */
  key?: string | undefined;
  /** Aborting gives up reading from a URL. */
  signal?: AbortSignal | undefined;
  /** Holds the key, the last manifest that was checked, and downloads. Without one, nothing is remembered. */
  dataDir?: string | undefined;
  logger?: Pick<Logger, "info">;
}

/** In a data folder: the key and the last manifest of the lake that was opened last, and downloads, which are removed before and after. */
const names = { key: "lake-key", checked: "lake-checked", downloads: "lake-download" };

/** Milliseconds between two lines of the log about progress. */
const logInterval = 10_000;

const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

const foreign = (message: string): PorticoError => new PorticoError("LAKE_FOREIGN", message);

/** Where files come from. Undefined: there is none of this name. */
interface Source {
  read(name: string): Promise<Buffer | undefined>;
  /** Name of a file on this machine that holds the file's bytes. It lasts until the next call, or `close`. */
  local(name: string, bytes: number): Promise<string | undefined>;
  close(): Promise<void>;
}

const folderSource = (path: string): Source => ({
  read: (name) => readIfThere(join(path, name)),
  local: async (name) => {
    const found = await stat(join(path, name)).catch(() => undefined);
    return found?.isFile() === true ? join(path, name) : undefined;
  },
  close: () => Promise.resolve(),
});

/** Milliseconds for a manifest. */
const patience = 60_000;

/** Ends with an error rather than take more than a file has. */
const atMost = (bytes: number, where: string) =>
  async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let left = bytes;
    for await (const chunk of chunks) {
      left -= chunk.length;
      if (left < 0) throw damaged(`${where} has more than the ${bytes} bytes that its manifest says`);
      yield chunk;
    }
  };

/**
 * The folder into which files are downloaded, one after the other. What is behind a URL is read twice, as any file is: to be checked, and
 * then.
 */
const createDownloads = (given: string | undefined) => {
  let folder: string | undefined = given;
  const close = async (): Promise<void> => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    folder = given;
  };
  return {
    close,
    /** Name of a file to be written, the only one. */
    next: async (): Promise<string> => {
      await close();
      if (given === undefined) folder = await mkdtemp(join(tmpdir(), "portico-lake-"));
      else makeFolder(given);
      return join(given ?? folder ?? "", "file");
    },
  };
};

const webSource = (url: string, { signal, dataDir }: LakeDemands): Source => {
  const downloads = createDownloads(dataDir && join(dataDir, names.downloads));

  const ask = async (name: string, limit?: AbortSignal): Promise<Response | undefined> => {
    const signals = [signal, limit].filter((one) => one !== undefined);
    const response = await fetch(`${url}/${name}`, { signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      throw new Error(
        `${url}/${name} cannot be read: ${messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)}`,
        { cause: error },
      );
    });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    throw new Error(`${url}/${name} cannot be read: status ${response.status}`);
  };

  return {
    read: async (name) => {
      const response = await ask(name, AbortSignal.timeout(patience));
      return response && Buffer.from(await response.arrayBuffer());
    },
    local: async (name, bytes) => {
      const body = (await ask(name))?.body;
      if (body === undefined || body === null) return undefined;
      const copy = await downloads.next();
      await pipeline(Readable.fromWeb(body), atMost(bytes, `${url}/${name}`), createWriteStream(copy));
      return copy;
    },
    close: downloads.close,
  };
};

/** `keyFile`: the file that says which key it must be, where nobody else does. */
const requireKey = (
  path: string,
  manifest: Manifest,
  { nethash, key, keyFile }: { nethash: string; key: string | undefined; keyFile: string | undefined },
): void => {
  if (manifest.network.nethash !== nethash)
    throw foreign(`${path} is a lake of the network ${manifest.network.nethash}, not of ${nethash}`);
  if (key === undefined || manifest.key === key) return;
  const remedy =
    keyFile === undefined
      ? ""
      : `, which is remembered in ${keyFile}; if the lake is the right one, \`lakeKey\`, or --lake-key ${manifest.key} of the example host, accepts it`;
  throw foreign(`${path} is signed with the key ${manifest.key}, not with ${key}${remedy}`);
};

/** What follows the sentence that there is no lake: a node has its own below its interface. */
const lakeOfNode = (path: string): string =>
  isUrl(path) && !path.endsWith("/lake") ? `; a node has its lake at ${new URL(path).origin}/api/lake` : "";

/**
 * Each manifest before must be there, whole, of the same key, and have no file of blocks that the next one lacks. Its hash in the next one
 * vouches for it. Those up to `checked` were checked before.
 */
const checkChain = async (
  { path, manifest, sha256: newest }: Pick<LakeFiles, "path" | "manifest" | "sha256">,
  { read }: Source,
  { checked, logger }: { checked: string | undefined; logger: LakeDemands["logger"] },
): Promise<void> => {
  let [next, sha256, loggedAt] = [manifest, newest, performance.now()];
  for (let count = 1; next.previous !== null && sha256 !== checked; count++) {
    const name = olderManifest(next.previous);
    const bytes = await read(name);
    if (bytes === undefined) throw damaged(`${path}/${name} is missing, although the manifest after it names it as the previous one`);
    sha256 = sha256Of(bytes);
    if (sha256 !== next.previous) throw damaged(`${path}/${name} is not what its name says: its SHA-256 is ${sha256}`);
    const older = parseOlderManifest(bytes, `${path}/${name}`);
    if (older.key !== next.key || older.network.nethash !== next.network.nethash)
      throw foreign(`${path}/${name} is signed with another key than the manifest after it`);
    const changed = older.blocks.find((file, i) => next.blocks[i]?.sha256 !== file.sha256);
    if (changed !== undefined) throw damaged(`${path}/${name} has another ${changed.file} than the manifest after it`);
    next = older;
    if (performance.now() - loggedAt < logInterval) continue;
    loggedAt = performance.now();
    logger?.info(`${count} earlier manifests of ${path} were checked`);
  }
};

const measure = async (source: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> => {
  const sum = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    sum.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: sum.digest("hex") };
};

/**
 * Opens a lake and checks its manifests. Where no key is demanded, it must have signed with that of the first lake seen from the data
 * folder;
 * earlier manifests, of which a long chain has thousands, are checked once. @throws PorticoError LAKE_DAMAGED, LAKE_FOREIGN; Error where it
 * cannot be reached
 */
export const openLake = async (where: string, demands: LakeDemands): Promise<LakeFiles> => {
  const { nethash, key, dataDir, logger } = demands;
  /** Only a file that is not there says nothing: one that cannot be read must not let another key in. */
  const noted = async (name: string): Promise<string | undefined> =>
    dataDir === undefined ? undefined : (await readIfThere(join(dataDir, name)))?.toString("utf8").trim();
  const note = async (name: string, text: string): Promise<void> =>
    dataDir === undefined ? undefined : putFile(join(dataDir, name), Buffer.from(`${text}\n`));

  const path = withoutTrailing(where, "/");
  if (isUrl(path) && urlOf(path) === undefined)
    throw new PorticoError("OPTION_INVALID", "the lake's URL is not valid, or has control characters or spaces at its ends");
  const [firstKey, checked] = [await noted(names.key), await noted(names.checked)];
  const source = isUrl(path) ? webSource(path, demands) : folderSource(path);
  const bytes = await source.read(manifestFile);
  if (bytes === undefined) throw foreign(`${path} is not a lake: it has no ${manifestFile}${lakeOfNode(path)}`);
  const manifest = parseManifest(bytes, `${path}/${manifestFile}`);
  const keyFile = key === undefined && dataDir !== undefined ? join(dataDir, names.key) : undefined;
  requireKey(path, manifest, { nethash, key: key ?? firstKey, keyFile });
  const sha256 = sha256Of(bytes);
  await checkChain({ path, manifest, sha256 }, source, { checked, logger });

  return {
    path,
    manifest,
    sha256,
    fetch: async ({ file, bytes: length, sha256: wanted }) => {
      const local = await source.local(file, length);
      if (local === undefined) throw damaged(`${path}/${file} is missing`);
      const found = await measure(createReadStream(local));
      if (found.bytes !== length) throw damaged(`${path}/${file} has ${found.bytes} bytes, not ${length} as its manifest says`);
      if (found.sha256 !== wanted)
        throw damaged(`${path}/${file} is damaged: its SHA-256 is ${found.sha256}, not ${wanted} as its manifest says`);
      return local;
    },
    remember: async () => {
      if (manifest.key !== firstKey) await note(names.key, manifest.key);
      if (sha256 !== checked) await note(names.checked, sha256);
    },
    close: source.close,
  };
};

/** Bytes that are unpacked at a time: with the 16 KB that are usual, handing them on takes longer than unpacking them. */
const unpackedTogether = 256 * 2 ** 10;

/** Writes the copy of the store that a snapshot holds. @throws PorticoError LAKE_DAMAGED */
export const unpackSnapshot = async (files: LakeFiles, snapshot: SnapshotFile, target: string): Promise<void> => {
  const chunks = { highWaterMark: unpackedTogether };
  await pipeline(
    createReadStream(await files.fetch(snapshot), chunks),
    createGunzip({ chunkSize: unpackedTogether }),
    createWriteStream(target, { mode: 0o600, ...chunks }),
  );
};
