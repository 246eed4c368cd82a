import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { open } from "lmdb";
import { messageOf, PorticoError } from "../../errors.js";
import { otherLayout, storeFile } from "../lmdb/environment.js";
import { fullLengthName, lmdbFileFault } from "../lmdb/safe/file-check.js";
import { type Meta, wholeLength } from "../lmdb/safe/meta-pages.js";
import {
  compareBytes,
  walkDatabases,
  walkFreePages,
  nodeFlags,
  pageHeader,
  newestMeta,
  type PageFile,
  openPageFile,
} from "../lmdb/safe/page-file.js";
import {
  type EntryCheck,
  createChecksumCheck,
  createDigestCheck,
  type Findings,
  createFormatCheck,
  isOfOtherLayout,
  createOrphanCheck,
  createRecordCheck,
} from "./checks.js";

/** More address space than a process has. */
const largestMap = 2 ** 46;

/** LMDB writes its two meta pages in turn: that of an even transaction first. */
const metaFaults = (file: PageFile): string[] => {
  const [first, second] = file.metas();
  if (first === undefined || second === undefined) return ["a meta page is damaged"];
  const inTurn = first.transaction % 2n === 0n && second.transaction % 2n === 1n && (first.transaction - second.transaction) ** 2n === 1n;
  // Of a file that was never written.
  const isNew = first.transaction === second.transaction && first.transaction <= 1n;
  const faults =
    inTurn || isNew
      ? []
      : [`its meta pages are those of transactions ${first.transaction} and ${second.transaction}, which do not follow each other`];
  if ([first, second].some(({ mapSize }) => mapSize > largestMap))
    faults.push("a meta page allows a larger file than LMDB does");
  return faults;
};

/**
 * Whether a meta page leads to a page that its own transaction has written, and to none of a later one: each transaction writes the root of
 * what it changes.
 */
const leadsToItsOwn = (meta: Meta, file: PageFile): boolean => {
  const written = [meta.free.root, meta.main.root].flatMap((root) => {
    const header = Buffer.alloc(pageHeader.length);
    return root !== undefined && root <= meta.lastPage && file.read(root, header, meta.pageSize)
      ? [header.readBigUInt64LE(pageHeader.transaction)]
      : [];
  });
  return written.length === 0 || (written.includes(meta.transaction) && written.every((transaction) => transaction <= meta.transaction));
};

/** How often that is looked at while another process writes: it may use the pages of the older meta page a moment later. */
const mostLooks = 10;

/** By a meta page that says another number than its own, the state before the last transaction may be taken for the newest. */
const numberFaults = (file: PageFile): string[] => {
  for (let looks = 1; ; looks++) {
    const metas = file.metas();
    const wrong = metas.filter((meta) => meta !== undefined && !leadsToItsOwn(meta, file));
    const isStill = file.metas().every((meta, place) => meta?.transaction === metas[place]?.transaction);
    if (wrong.length === 0) return [];
    if (isStill || looks === mostLooks)
      return wrong.map((meta) => `a meta page says that it is of transaction ${meta?.transaction}, but leads to pages of another`);
  }
};

/** What uses each page: a page that two things use would be overwritten by one of them. */
const createPageUse = (lastPage: number) => {
  const used = new Uint8Array(lastPage + 1);
  return (first: number, count: number): string | undefined => {
    if (!Number.isSafeInteger(first) || first < 2 || count < 1 || first + count - 1 > lastPage) return "is not a page of the file";
    for (let page = first; page < first + count; page++)
      if (used[page] === 1) return page === first ? "is used twice" : `and those after it include page ${page}, which is used twice`;
    used.fill(1, first, first + count);
    return undefined;
  };
};

const isInUseByWriter = (file: PageFile): boolean => existsSync(`${file.path}-writer`);

/** Reads a whole file: its trees, its free pages, and each entry. Yields after each page. Returns what is wrong. */
function* walkFile(file: PageFile, checks: readonly EntryCheck[]): Generator<void, string[]> {
  const faults = [...metaFaults(file), ...numberFaults(file)];
  const meta: Meta | undefined = newestMeta(file);
  if (meta === undefined) return faults;
  if (meta.lastPage > largestMap / meta.pageSize) return [...faults, "its newest meta page is damaged"];
  const use = createPageUse(meta.lastPage);
  const noted = { fullLength: false };

  yield* walkDatabases(meta, file, {
    page: use,
    order: () => compareBytes,
    tree: (database, { flags }) => {
      if (flags !== 0) faults.push(`database "${database}": its tree has flags that it cannot have`);
    },
    fault: (database, number, what) =>
      void faults.push(`${database === undefined ? "the list of databases" : `database "${database}"`}: page ${number} ${what}`),
    entry: (database, { key, value, flags }) => {
      if ((flags & ~nodeFlags.onOtherPages) !== 0) faults.push(`database "${database}": an entry has flags that it cannot have`);
      noted.fullLength ||= database === "meta" && key.toString("latin1") === fullLengthName;
      for (const check of checks) check.entry(database, key, value);
    },
  });
  yield* walkFreePages(meta, file, {
    page: use,
    fault: (number, what) => void faults.push(`the list of free pages: page ${number} ${what}`),
    free: (first, count) => {
      const wrong = use(first, count);
      if (wrong !== undefined) faults.push(`the list of free pages: page ${first} ${wrong}`);
    },
  });
  if (noted.fullLength && !isInUseByWriter(file) && file.size() < wholeLength(meta))
    faults.push(`it is ${wholeLength(meta) - file.size()} bytes shorter than it was`);
  return faults;
}

export interface VerifyOptions {
  /** Folder of the store. */
  dataDir: string;
  /** Hash of the network's payload that the store must belong to. @default any */
  nethash?: string;
  /** Called now and then with the number of pages read. @default none */
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
const chainChecks = (nethash: string | undefined): EntryCheck[] =>
  [createFormatCheck(nethash), createChecksumCheck(), createRecordCheck(), createDigestCheck(), createOrphanCheck()];

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
 * Reads all of a store, page by page and without LMDB, and reports damage. It writes nothing. Beside a running node, it checks the state at
 * the moment when it begins.
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
