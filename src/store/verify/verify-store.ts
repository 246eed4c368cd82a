import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { open } from "lmdb";
import { messageOf, PorticoError } from "../../errors.js";
import { otherLayout, storeFile } from "../lmdb/environment.js";
import { lmdbFileFault } from "../lmdb/file/file-check.js";
import { openPageFile, type PageFile } from "../lmdb/file/page-file.js";
import { createChecksumCheck } from "./checksum-check.js";
import { createDigestCheck } from "./digest-check.js";
import type { EntryCheck, Findings } from "./entry-check.js";
import { createFormatCheck, isOfOtherLayout } from "./format-check.js";
import { createOrphanCheck } from "./orphan-check.js";
import { createRecordCheck } from "./record-check.js";
import { walkFile } from "./file-walk.js";

export interface VerifyOptions {
  /** Folder of the store. */
  dataDir: string;
  /** Hash of the network's payload that the store must belong to; not given: any. */
  nethash?: string;
  /** Told now and then how many pages have been read. */
  onProgress?: (pages: number) => void;
}

export interface Verification extends Findings {
  /** Whether nothing is wrong. */
  sound: boolean;
  /** What is wrong, each in a sentence that names file and database. */
  faults: string[];
  /** Files that were read. */
  files: string[];
}

/** Milliseconds of reading before others get their turn. */
const turn = 10;
/** Of each file, faults that are told one by one. */
const mostFaults = 100;

/** What looks at a chain's entries. A new check is one line here. */
const chainChecks = (nethash: string | undefined): EntryCheck[] => [createFormatCheck(nethash), createChecksumCheck(), createRecordCheck(), createDigestCheck(), createOrphanCheck()];

/**
 * Keeps the pages of the newest state from being used for others, if another process may be writing them: as a reader that LMDB knows of.
 * A node that was killed leaves its note, too, and perhaps a damaged file, at which LMDB would end this process: that one nobody writes.
 * Returns what ends it.
 */
const holdPages = (path: string): (() => Promise<void>) => {
  if (!existsSync(`${path}-writer`) || lmdbFileFault(path) !== undefined) return () => Promise.resolve();
  const root = open<unknown, Buffer>({ path, noSubdir: true, readOnly: true, keyEncoding: "binary" });
  const transaction = root.useReadTransaction();
  return async () => {
    transaction.done();
    await root.close();
  };
};

const listed = (faults: readonly string[]): string[] =>
  faults.length <= mostFaults ? [...faults] : [...faults.slice(0, mostFaults), `and ${faults.length - mostFaults} more faults`];

const read = async (file: PageFile, checks: readonly EntryCheck[], onProgress: VerifyOptions["onProgress"]): Promise<string[]> => {
  const walk = walkFile(file, checks);
  for (let [pages, begun] = [0, performance.now()]; ; pages++) {
    const step = walk.next();
    if (step.done === true) return step.value;
    if (performance.now() - begun < turn) continue;
    onProgress?.(pages);
    await nextTurn();
    begun = performance.now();
  }
};

const verifyFile = async (path: string, checks: readonly EntryCheck[], { onProgress }: VerifyOptions): Promise<{ faults: string[]; findings: Findings }> => {
  const letGo = holdPages(path);
  try {
    const file = openPageFile(path);
    try {
      if (path === storeFile(dirname(path)) && isOfOtherLayout(file)) throw otherLayout(path);
      const ofFile = await read(file, checks, onProgress);
      const ended = checks.map((check) => check.end());
      const faults = listed([...ofFile, ...ended.flatMap((one) => one.faults)]).map((fault) => `${path}: ${fault}`);
      return { faults, findings: Object.assign({}, ...ended.map(({ findings }) => findings ?? {})) as Findings };
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof PorticoError) throw error;
    return { faults: [`${path} cannot be read: ${messageOf(error)}`], findings: {} };
  } finally {
    await letGo();
  }
};

/**
 * Reads all of a store, page by page and without LMDB, and says what is damaged. Writes nothing; beside a node that runs, the state is
 * that of the moment at which it begins.
 * @throws PorticoError NOT_READY if there is no store in the folder; STORE_FOREIGN if it is one of another layout
 */
export const verifyStore = async (options: VerifyOptions): Promise<Verification> => {
  const chain = storeFile(options.dataDir);
  const webhooks = resolve(options.dataDir, "webhooks.mdb");
  const files = [chain, webhooks].filter((path) => existsSync(path));
  if (files.length === 0) throw new PorticoError("NOT_READY", `${options.dataDir} does not contain a Portico store`);
  const found: Verification = { sound: true, faults: [], files };
  for (const path of files) {
    const { faults, findings } = await verifyFile(path, path === chain ? chainChecks(options.nethash) : [createRecordCheck()], options);
    found.faults.push(...faults);
    Object.assign(found, findings);
  }
  return { ...found, sound: found.faults.length === 0 };
};
