import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { messageOf, PorticoError } from "../errors.js";
import { makeFolder } from "../make-folder.js";
import { withoutTrailing } from "../text/trim-end.js";
import { putFile, readIfThere } from "./files.js";
import { type Manifest, manifestFile, olderManifest, parseOlderManifest, parseManifest, sha256Of, type SnapshotFile } from "./manifest.js";
import type { Logger } from "../../types/node-context.js";

/** A lake's files, in a folder or behind a URL, each checked against the manifest before it is read. */
export interface LakeFiles {
  /** Folder or URL, without a slash at its end. */
  readonly path: string;
  readonly manifest: Manifest;
  /** Of the bytes of the manifest, in hexadecimal digits. */
  readonly sha256: string;
  /** Name of a file on this machine that holds what the manifest says. It lasts until the next call, or `close`. @throws PorticoError LAKE_DAMAGED */
  fetch(file: { file: string; bytes: number; sha256: string }): Promise<string>;
  close(): Promise<void>;
}

export interface LakeDemands {
  nethash: string;
  /** The key that must have signed it, in base64. */
  key?: string | undefined;
  /** The file that says so, where nobody else does. */
  keyFile?: string | undefined;
  /** Aborting gives up reading from a URL. */
  signal?: AbortSignal | undefined;
  /** SHA-256 of a manifest that was checked before, with all before it: these are not read again. */
  checked?: string | undefined;
  /** Is told how many earlier manifests have been checked, after each. */
  onChecked?: ((count: number) => void) | undefined;
  /** Folder, removed before and after, for files from a URL: they may be as large as the store. Default: one of the system's for temporary files. */
  downloads?: string | undefined;
}

const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

const foreign = (message: string): PorticoError => new PorticoError("LAKE_FOREIGN", message);
const damaged = (message: string): PorticoError => new PorticoError("LAKE_DAMAGED", message);

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

/** The folder into which files are downloaded, one after the other. What is behind a URL is read twice, as any file is: to be checked, and then. */
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

const webSource = (url: string, { signal, downloads: given }: LakeDemands): Source => {
  const downloads = createDownloads(given);

  const ask = async (name: string, limit?: AbortSignal): Promise<Response | undefined> => {
    const signals = [signal, limit].filter((one) => one !== undefined);
    const response = await fetch(`${url}/${name}`, { signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      throw new Error(`${url}/${name} cannot be read: ${messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)}`, { cause: error });
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

const requireWanted = (path: string, manifest: Manifest, { nethash, key, keyFile }: LakeDemands): void => {
  if (manifest.network.nethash !== nethash) throw foreign(`${path} is a lake of the network ${manifest.network.nethash}, not of ${nethash}`);
  if (key === undefined || manifest.key === key) return;
  const remedy = keyFile === undefined ? "" : `, which is remembered in ${keyFile}; if the lake is the right one, \`lakeKey\`, or --lake-key ${manifest.key} of the example host, accepts it`;
  throw foreign(`${path} is signed with the key ${manifest.key}, not with ${key}${remedy}`);
};

/** What follows the sentence that there is no lake: a node has its own below its interface. */
const lakeOfNode = (path: string): string => (isUrl(path) && !path.endsWith("/lake") ? `; a node has its lake at ${new URL(path).origin}/api/lake` : "");

/** Each manifest before must be there, whole, of the same key, and have no file of blocks that the next one lacks. What vouches for it is its hash in the next one. */
const checkChain = async (path: string, newest: { manifest: Manifest; sha256: string }, { read }: Source, { checked, onChecked }: LakeDemands): Promise<void> => {
  let { manifest: next, sha256 } = newest;
  for (let count = 1; next.previous !== null && sha256 !== checked; count++) {
    const name = olderManifest(next.previous);
    const bytes = await read(name);
    if (bytes === undefined) throw damaged(`${path}/${name} is missing: the manifest after it names it as the one before`);
    sha256 = sha256Of(bytes);
    if (sha256 !== next.previous) throw damaged(`${path}/${name} is not what its name says: its SHA-256 is ${sha256}`);
    const older = parseOlderManifest(bytes, `${path}/${name}`);
    if (older.key !== next.key || older.network.nethash !== next.network.nethash) throw foreign(`${path}/${name} is signed with another key than the manifest after it`);
    const changed = older.blocks.find((file, i) => next.blocks[i]?.sha256 !== file.sha256);
    if (changed !== undefined) throw damaged(`${path}/${name} has another ${changed.file} than the manifest after it`);
    next = older;
    onChecked?.(count);
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

/** Opens a lake and checks its manifests. @throws PorticoError LAKE_DAMAGED, LAKE_FOREIGN; Error where it cannot be reached */
export const openLakeFiles = async (where: string, demands: LakeDemands): Promise<LakeFiles> => {
  const path = withoutTrailing(where, "/");
  const source = isUrl(path) ? webSource(path, demands) : folderSource(path);
  const bytes = await source.read(manifestFile);
  if (bytes === undefined) throw foreign(`${path} is not a lake: it has no ${manifestFile}${lakeOfNode(path)}`);
  const manifest = parseManifest(bytes, `${path}/${manifestFile}`);
  requireWanted(path, manifest, demands);
  const sha256 = sha256Of(bytes);
  await checkChain(path, { manifest, sha256 }, source, demands);

  return {
    path,
    manifest,
    sha256,
    fetch: async ({ file, bytes: length, sha256: wanted }) => {
      const local = await source.local(file, length);
      if (local === undefined) throw damaged(`${path}/${file} is missing`);
      const found = await measure(createReadStream(local));
      if (found.bytes !== length) throw damaged(`${path}/${file} has ${found.bytes} bytes, not ${length} as its manifest says`);
      if (found.sha256 !== wanted) throw damaged(`${path}/${file} is damaged: its SHA-256 is ${found.sha256}, not ${wanted} as its manifest says`);
      return local;
    },
    close: source.close,
  };
};

/** Bytes that are unpacked at a time: with the 16 KB that are usual, handing them on takes longer than unpacking them. */
const unpackedTogether = 256 * 2 ** 10;

/** Writes the copy of the store that a snapshot holds. @throws PorticoError LAKE_DAMAGED */
export const unpackSnapshot = async (files: LakeFiles, snapshot: SnapshotFile, target: string): Promise<void> => {
  const chunks = { highWaterMark: unpackedTogether };
  await pipeline(createReadStream(await files.fetch(snapshot), chunks), createGunzip({ chunkSize: unpackedTogether }), createWriteStream(target, { mode: 0o600, ...chunks }));
};

/** In a data folder: the key of the first lake that was seen, or of the last one whose key was demanded, the last manifest that was checked with all before it, and downloads. */
const names = { key: "lake-key", checked: "lake-checked", downloads: "lake-download" };

/** Milliseconds between two lines about progress. */
const tellInterval = 10_000;

export interface KnownLakeNeeds extends Pick<LakeDemands, "nethash" | "key" | "signal"> {
  /** Without one, nothing is remembered. */
  dataDir: string | undefined;
  logger: Pick<Logger, "info">;
}

/**
 * Opens a lake for a data folder. Where no key is demanded, it must have signed with that of the first lake seen there; earlier manifests, of
 * which a long chain has thousands, are checked once. @throws PorticoError LAKE_DAMAGED, LAKE_FOREIGN; Error where it cannot be reached
 */
export const openKnownLake = async (where: string, { dataDir, logger, key, ...demands }: KnownLakeNeeds): Promise<{ files: LakeFiles; remember(): Promise<void> }> => {
  /** Only a file that is not there says nothing: one that cannot be read must not let another key in. */
  const remembered = async (name: string): Promise<string | undefined> => (dataDir === undefined ? undefined : (await readIfThere(join(dataDir, name)))?.toString("utf8").trim());
  const put = async (name: string, text: string): Promise<void> => (dataDir === undefined ? undefined : putFile(join(dataDir, name), Buffer.from(`${text}\n`)));

  let toldAt = performance.now();
  const onChecked = (count: number): void => {
    if (performance.now() - toldAt < tellInterval) return;
    toldAt = performance.now();
    logger.info(`${count} earlier manifests of ${where} are checked`);
  };

  const known = await remembered(names.key);
  const wanted = key !== undefined || dataDir === undefined ? { key } : { key: known, keyFile: join(dataDir, names.key) };
  const checked = await remembered(names.checked);
  const downloads = dataDir === undefined ? undefined : join(dataDir, names.downloads);
  const files = await openLakeFiles(where, { ...demands, ...wanted, checked, downloads, onChecked });
  return {
    files,
    remember: async () => {
      if (files.manifest.key !== known) await put(names.key, files.manifest.key);
      if (files.sha256 !== checked) await put(names.checked, files.sha256);
    },
  };
};
