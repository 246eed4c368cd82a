import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Transaction } from "../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import { pause } from "../async/clock.js";
import { blockLine, type FullBlock } from "../chain/blocks/block.js";
import { messageOf, PorticoError } from "../errors.js";
import { draftMark, packFile, putFile, putGzip, readIfThere } from "./files.js";
import {
  type BlockFile,
  blockFileName,
  createManifestParser,
  type Manifest,
  manifestBytes,
  manifestFile,
  olderManifest,
  sha256Of,
  signManifest,
  snapshotFileName,
} from "./manifest.js";

export interface LakeOptions {
  dir: string;
  blocksPerFile: number;
  /** Blocks between two snapshots; 0: none. */
  snapshotEvery: number;
  keepSnapshots: number;
}

/** A copy of the store, which whoever asked for it removes. */
export interface StoreCopy {
  file: string;
  height: number;
  id: string;
  layout: number;
  digest: string;
}

interface LakeWriterNeeds {
  nethash: string;
  /** The node's key. */
  key: { publicKey: Buffer; sign(message: Uint8Array): Buffer };
  openSnapshot(): MaybePromise<ChainSnapshot | undefined>;
  /** From the height of the tip. */
  finalHeight(tip: number): number;
  logger: Logger;
  /** Milliseconds, by a clock that is never set. */
  now(): number;
  /** Copies the store as it was at a height. Undefined: it cannot be taken back that far. Not given: no snapshots are taken. */
  copyAt?(height: number, signal: AbortSignal): Promise<StoreCopy | undefined>;
  /** Calls `moved` with each new tip, after which the chain is looked at without waiting for the next look. Returns what ends it. */
  watch?(moved: () => void): () => void;
  /** Milliseconds between two looks at the chain. */
  lookInterval?: number;
}

/** Writes final blocks into files, in the background. */
export interface LakeWriter {
  start(): void;
  /** The last block in the files, as far as is known, and the milliseconds since a file was written or there was nothing to write. */
  progress(): { height: number | undefined; age: number };
  /** Resolves when nothing is being written any more; what was under way is begun again by the next start. */
  stop(): Promise<void>;
}

/** Milliseconds between two tries, at the most: each may write a whole file before it fails. */
const longestPause = 60_000;
/** Milliseconds between two looks, however fast the tip moves: each reads the manifest. */
const shortestPause = 50;

/** Blocks read in one snapshot: while it is open, the store cannot reuse what newer blocks replace. */
const blocksPerSnapshot = 50;
const pageSize = 1_000;

const fullBlockAt = async (snapshot: ChainSnapshot, height: number): Promise<FullBlock> => {
  const block = await snapshot.block({ height });
  if (block === undefined) throw new Error(`the chain has no block ${height}`);
  const transactions: Transaction[] = [];
  while (transactions.length < block.numberOfTransactions) {
    const query = {
      filter: { blockId: block.id },
      order: { field: "timestamp", direction: "asc" },
      offset: transactions.length,
      limit: pageSize,
    } as const;
    const { rows } = await snapshot.transactions(query);
    if (rows.length === 0)
      throw new Error(`the chain has ${transactions.length} of ${block.numberOfTransactions} transactions of block ${height}`);
    transactions.push(...rows);
  }
  return { block, transactions };
};

const refuse = (message: string): never => {
  throw new PorticoError("LAKE_FOREIGN", message);
};

/** Checks that this node may go on with what a folder has. @throws PorticoError LAKE_FOREIGN */
const requireOwn = (dir: string, manifest: Manifest, { nethash, key }: LakeWriterNeeds, blocksPerFile: number): void => {
  const [first] = manifest.blocks;
  if (manifest.network.nethash !== nethash) refuse(`${dir} is a lake of the network ${manifest.network.nethash}, not of ${nethash}`);
  if (manifest.key !== key.publicKey.toString("base64"))
    refuse(`${dir} is the lake of another node, whose key is ${manifest.key}; each node needs a folder of its own`);
  if (first !== undefined && first.to !== blocksPerFile)
    refuse(
      `${dir} has ${first.to} blocks in a file, not ${blocksPerFile}: a folder keeps its \`blocksPerFile\` (--lake-blocks ${first.to} of the example host)`,
    );
};

const inSnapshot = async <T>(
  openSnapshot: LakeWriterNeeds["openSnapshot"],
  work: (snapshot: ChainSnapshot) => Promise<T>,
): Promise<T | undefined> => {
  const snapshot = await openSnapshot();
  try {
    return snapshot && (await work(snapshot));
  } finally {
    snapshot?.release?.();
  }
};

/** Lines of the blocks in order, each of which follows the one before it; `last` is told of their ids. */
const linesOf = async function* (
  { openSnapshot, dir }: Pick<LakeWriterNeeds, "openSnapshot"> & { dir: string },
  from: number,
  to: number,
  follows: string | undefined,
  last: (id: string) => void,
): AsyncGenerator<string> {
  let previous = follows;
  for (let height = from; height <= to;) {
    const lines = await inSnapshot(openSnapshot, async (snapshot) => {
      const read: string[] = [];
      for (let i = 0; i < blocksPerSnapshot && height <= to; i++, height++) {
        const full = await fullBlockAt(snapshot, height);
        if (height > 1 && previous !== undefined && full.block.previousBlock !== previous) {
          refuse(
            `block ${height} does not follow block ${previous} of the lake in ${dir}: the node's chain has forked from it. Move the folder away, and the lake is written anew`,
          );
        }
        previous = full.block.id;
        read.push(`${blockLine(full)}\n`);
        await nextTurn();
      }
      return read;
    });
    if (lines === undefined) throw new Error("the chain cannot be read at present");
    yield lines.join("");
  }
  last(previous ?? "");
};

/** The folder of a lake: its manifest, and the files that it names. */
const createLakeFolder = ({ dir, blocksPerFile }: LakeOptions, needs: LakeWriterNeeds) => {
  const { key, openSnapshot } = needs;
  const parse = createManifestParser();

  const readOwn = async (): Promise<{ before: Buffer | undefined; manifest: Manifest | undefined }> => {
    const before = await readIfThere(join(dir, manifestFile));
    const manifest = before && parse(before, join(dir, manifestFile));
    if (manifest !== undefined) requireOwn(dir, manifest, needs, blocksPerFile);
    return { before, manifest };
  };

  return {
    writeBlocks: async (from: number, manifest: Manifest | undefined, signal: AbortSignal): Promise<BlockFile> => {
      const to = from + blocksPerFile - 1;
      const file = blockFileName(from, to);
      let last = "";
      const lines = linesOf({ openSnapshot, dir }, from, to, manifest?.blocks.at(-1)?.last, (id) => (last = id));
      const written = await putGzip(join(dir, file), lines, signal);
      return { from, to, file, ...written, last };
    },

    /** Keeps the manifest before under its hash, then replaces it. */
    publish: async (before: Buffer | undefined, manifest: Omit<Manifest, "previous" | "key" | "signature">): Promise<void> => {
      const previous = before === undefined ? null : sha256Of(before);
      if (before !== undefined && previous !== null) await putFile(join(dir, olderManifest(previous)), before);
      const signed = signManifest({ ...manifest, previous, key: key.publicKey.toString("base64") }, key.sign);
      await putFile(join(dir, manifestFile), manifestBytes(signed));
    },

    readOwn,

    /** Removes what a process that was killed has left: files half written, and snapshots that it had not listed yet, or no longer. */
    removeLeftovers: async (): Promise<void> => {
      // Another node's drafts are not ours to remove: its folder is refused here.
      const { manifest } = await readOwn();
      const isUnlisted = (file: string): boolean =>
        manifest !== undefined && file.endsWith(".mdb.gz") && !manifest.snapshots.some((snapshot) => snapshot.file === file);
      for (const folder of ["", "blocks", "snapshots", "manifests"]) {
        const names = await readdir(join(dir, folder)).catch(() => []);
        for (const name of names.filter((one) => one.startsWith(draftMark) || isUnlisted(`${folder}/${one}`)))
          await rm(join(dir, folder, name), { force: true });
      }
    },
  };
};

/** What is to be written next. */
const createLakeWork = (
  { dir, blocksPerFile, snapshotEvery, keepSnapshots }: LakeOptions,
  { readOwn, publish, writeBlocks }: ReturnType<typeof createLakeFolder>,
  { nethash, openSnapshot, finalHeight, logger, copyAt }: LakeWriterNeeds,
) => {
  /** The height that the store could not be taken back to, or of whose snapshot something was wrong. */
  let skipped = 0;
  let height: number | undefined;

  /** The newest final block, if it is not below a height. */
  const finalFrom = (lowest: number): Promise<{ height: number; id: string } | undefined> =>
    inSnapshot(openSnapshot, async (snapshot) => {
      const height = finalHeight(snapshot.tip.height);
      const block = height < lowest ? undefined : await snapshot.block({ height });
      return block && { height, id: block.id };
    });

  /** Puts a copy of the store into the lake, and takes away the oldest where there are too many. */
  const addSnapshot = async (copy: StoreCopy, final: Manifest["final"], signal: AbortSignal): Promise<void> => {
    const { before, manifest } = await readOwn();
    const { height, id, layout, digest } = copy;
    const file = snapshotFileName(height, id);
    const written = await packFile(join(dir, file), copy.file, signal);
    const all = [...(manifest?.snapshots ?? []), { height, id, file, ...written, layout, digest }];
    await publish(before, { network: { nethash }, final, blocks: manifest?.blocks ?? [], snapshots: all.slice(-keepSnapshots) });
    for (const old of all.slice(0, -keepSnapshots)) await rm(join(dir, old.file), { force: true });
    logger.info(`the lake in ${dir} has a snapshot of block ${height}`);
  };

  const takeSnapshot = async (signal: AbortSignal): Promise<void> => {
    if (copyAt === undefined || snapshotEvery === 0) return;
    const { manifest } = await readOwn();
    const final = await finalFrom(Math.max(skipped, manifest?.snapshots.at(-1)?.height ?? 0) + 1);
    const height = Math.floor((final?.height ?? 0) / snapshotEvery) * snapshotEvery;
    if (final === undefined || height <= Math.max(skipped, manifest?.snapshots.at(-1)?.height ?? 0)) return;
    const copy = await copyAt(height, signal);
    skipped = copy === undefined ? height : skipped;
    if (copy === undefined) return;
    try {
      await addSnapshot(copy, final, signal);
    } finally {
      await rm(dirname(copy.file), { recursive: true, force: true });
    }
  };

  /** Writes one file if all its blocks are final. Returns whether it did. */
  const writeNext = async (signal: AbortSignal): Promise<boolean> => {
    const { before, manifest } = await readOwn();
    height = manifest?.blocks.at(-1)?.to ?? 0;
    const from = height + 1;
    const final = await finalFrom(from + blocksPerFile - 1);
    if (final === undefined) return false;
    const blocks = [...(manifest?.blocks ?? []), await writeBlocks(from, manifest, signal)];
    await publish(before, { network: { nethash }, final, blocks, snapshots: manifest?.snapshots ?? [] });
    logger.info(`the lake in ${dir} has the blocks up to ${from + blocksPerFile - 1}`);
    return true;
  };

  return { takeSnapshot, writeNext, height: () => height };
};

export const createLakeWriter = (options: LakeOptions, needs: LakeWriterNeeds): LakeWriter => {
  const { logger, now, watch, lookInterval = 1_000 } = needs;
  const folder = createLakeFolder(options, needs);
  const { takeSnapshot, writeNext, height } = createLakeWork(options, folder, needs);
  let life: { ending: AbortController; ended: Promise<void> } | undefined;
  let problem: string | undefined;
  let isTidy = false;
  /** Aborted when the tip has moved. */
  let moved = new AbortController();
  let succeededAt = now();

  const look = async (signal: AbortSignal): Promise<boolean> => {
    try {
      if (!isTidy) await folder.removeLeftovers();
      isTidy = true;
      while (!signal.aborted && (await writeNext(signal))) succeededAt = now();
      await takeSnapshot(signal);
      succeededAt = now();
      if (problem !== undefined) logger.info("the lake can be written again");
      problem = undefined;
      return true;
    } catch (error) {
      // A draft has another name each time.
      const message = messageOf(error).replaceAll(/\.draft-[\da-f-]{36}/g, "a draft");
      if (!signal.aborted && message !== problem) logger.error(`the lake cannot be written: ${message}`);
      problem = message;
      return false;
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      // Before the look, which may miss what comes while it is under way.
      moved = new AbortController();
      failures = (await look(signal)) ? 0 : failures + 1;
      if (failures > 0) await pause(Math.min(lookInterval * 2 ** failures, longestPause), signal);
      else await Promise.all([pause(Math.min(shortestPause, lookInterval), signal), pause(lookInterval, moved.signal)]);
    }
  };

  return {
    start: () => {
      if (life !== undefined) return;
      const ending = new AbortController();
      succeededAt = now();
      const leave = watch?.(() => moved.abort());
      life = { ending, ended: run(ending.signal).finally(leave) };
    },
    progress: () => ({ height: height(), age: now() - succeededAt }),
    stop: async () => {
      const stopping = life;
      stopping?.ending.abort();
      moved.abort();
      await stopping?.ended;
      if (life === stopping) life = undefined;
    },
  };
};
