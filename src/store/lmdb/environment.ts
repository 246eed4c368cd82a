import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Database, DatabaseOptions, RootDatabase } from "lmdb";
import { messageOf, PorticoError } from "../../errors.js";
import { makeDataDir } from "../../files/make-folder.js";
import { withoutTrailing } from "../../text/digits.js";
import { type CommitThreadData, createCommitWorker } from "./commit-worker.js";
import { checksumsKey } from "../layout/checksums.js";
import type { LogBytes } from "../layout/write-log.js";
import { fullLengthName } from "./safe/file-check.js";
import { makeWhole, openSound } from "./open-file.js";
import { type DatabaseName, databases, type Format, formatKey, layoutVersion, textKey } from "../layout/keys.js";
import { becomeWriter } from "./writer-lock.js";
import { endWriting, transactAnyway, checkWritable, noteFile, whyUnwritten } from "./safe/transact.js";
import { unwatched, type WriteWatch } from "./write-watch.js";

export type StoreDatabase = Database<unknown, Buffer>;
export type StoreDatabases = Record<DatabaseName, StoreDatabase>;

/** An open LMDB environment with its databases. */
export interface Environment {
  readonly path: string;
  readonly root: RootDatabase<unknown, Buffer>;
  readonly db: StoreDatabases;
  /** Commits all entries of a log in one transaction, in another thread (commit-worker.ts). @throws PorticoError STORE_UNWRITABLE */
  commit(log: LogBytes): Promise<void>;
  readonly writes: WriteWatch;
  close(): Promise<void>;
}

/** What a process may do with a store. `write`: everything; one process at a time. `read`: nothing is written. Only `write` makes a store that is not there. */
export type StoreAccess = "write" | "read";

const fullLengthKey = textKey(fullLengthName);

/** Room for the store's own databases and for the log of the host's events, which shares the environment. */
const maxDatabases = 64;

const encoder = { useRecords: false, useBigIntExtension: true, moreTypes: false } as const;

/** What lmdb-js reads into is longer than what it has read: it says its end, or sets the buffer's own length. */
const view = {
  encode: (bytes: Buffer): Buffer => bytes,
  decode: (bytes: Buffer, end?: unknown): Buffer =>
    Buffer.from(bytes.buffer, bytes.byteOffset, typeof end === "number" ? end : bytes.length),
} as const;

const encodings = {
  raw: { encoding: "binary" },
  // The same without a copy, which costs more than to unpack most of them: they last until the next read.
  view: { encoder: view },
  record: { encoding: "msgpack", encoder },
  // Of runs of digits, texts are made before anything else is read: there is no need to copy their bytes first.
  digits: { encoding: "msgpack", encoder: { ...encoder, copyBuffers: false } },
} as const;

/** Makes it if the store may be written and does not have it yet. */
const openDatabase = (root: RootDatabase<unknown, Buffer>, name: DatabaseName): StoreDatabase =>
  root.openDB<unknown, Buffer>({ name, keyEncoding: "binary", ...(encodings[databases[name]] as DatabaseOptions) });

const hasDatabase = (root: RootDatabase<unknown, Buffer>, name: string): boolean =>
  [...root.getKeys({ start: textKey(name), limit: 1 })].some((key) => withoutTrailing(Buffer.from(key).toString("utf8"), "\0") === name);

/** What is thrown for a file that is no store of this layout. */
export const otherLayout = (path: string): PorticoError =>
  new PorticoError(
    "STORE_FOREIGN",
    `${path} is no store of layout ${layoutVersion}, the only one that this version reads: move it away and the chain is reindexed from the block source; webhooks are kept`,
  );

/** Only looks: a database that is not there would be made by opening it. @throws PorticoError STORE_FOREIGN */
const checkFormat = (root: RootDatabase<unknown, Buffer>, path: string, nethash: string): void => {
  const found = hasDatabase(root, "meta") ? (openDatabase(root, "meta").get(formatKey) as Format | undefined) : undefined;
  if (found?.layout !== layoutVersion) throw otherLayout(path);
  if (found.nethash !== nethash) throw new PorticoError("STORE_FOREIGN", `${path} belongs to the network ${found.nethash}, not to ${nethash}`);
};

const openDatabases = (root: RootDatabase<unknown, Buffer>): StoreDatabases =>
  Object.fromEntries((Object.keys(databases) as DatabaseName[]).map((name) => [name, openDatabase(root, name)])) as StoreDatabases;

const giveFormat = ({ root, path, db }: Pick<Environment, "root" | "path" | "db">, nethash: string): void =>
  transactAnyway({ path, root }, () => {
    db.meta.putSync(formatKey, { layout: layoutVersion, nethash } satisfies Format);
    db.meta.putSync(checksumsKey, true);
  });

/**
 * Notes that whoever writes the store keeps its file at full length (meta-pages.js): if it has been closed and is shorter, it was cut off.
 */
const noteFullLength = ({ root, path, db }: Pick<Environment, "root" | "path" | "db">): void => {
  if (db.meta.get(fullLengthKey) !== true) transactAnyway({ path, root }, () => void db.meta.putSync(fullLengthKey, true));
};

interface OpenOptions {
  access?: StoreAccess;
  disposable?: boolean;
  /** Is told how writes go. */
  writes?: WriteWatch | undefined;
  /** Checks whatever else has to be true of the store, and throws if it is not. */
  check?: (environment: Environment) => void;
}

const rootOptions = ({ access = "write", disposable = false }: OpenOptions): CommitThreadData["options"] => ({
  maxDbs: maxDatabases,
  keyEncoding: "binary",
  noSubdir: true,
  readOnly: access === "read",
  // Transactions are explicit: those that lmdb-js batches by itself reject a promise that nobody holds when they fail.
  eventTurnBatching: false,
  // A commit is on the disk when it is done: lmdb-js waits for syncs that overlap with later commits in a way that may never end.
  overlappingSync: false,
  ...(disposable ? { useWritemap: true, noSync: true } : {}),
});

const openFile = (path: string, options: OpenOptions): RootDatabase<unknown, Buffer> =>
  openSound<unknown, Buffer>(path, rootOptions(options));

const makeStore = (path: string, nethash: string, options: OpenOptions): void =>
  makeWhole(path, (draft) => {
    const root = openFile(draft, options);
    try {
      // All of them: a reader, which may open the store at once, cannot make those that it lacks.
      giveFormat({ root, path: draft, db: openDatabases(root) }, nethash);
    } finally {
      void root.close();
    }
  });

const openRoot = (dataDir: string, path: string, nethash: string, options: OpenOptions): RootDatabase<unknown, Buffer> => {
  const { access = "write" } = options;
  if (access !== "write" && !existsSync(path)) throw new PorticoError("NOT_READY", `${path} does not exist yet`);
  try {
    if (access === "write" && !existsSync(path)) {
      makeDataDir(dataDir);
      makeStore(path, nethash, options);
    }
    return openFile(path, options);
  } catch (cause) {
    if (cause instanceof PorticoError) throw cause;
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  }
};

/** File of the store in a folder: an absolute path, since the process may change its working directory. */
export const storeFile = (dataDir: string): string => resolve(dataDir, "chain.mdb");

/**
 * Opens, or makes, the environment `chain.mdb` in a folder.
 * @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE, NOT_READY; the files in the folder are then as they were.
 */
export const openEnvironment = (dataDir: string, nethash: string, options: OpenOptions = {}): Environment => {
  const path = storeFile(dataDir);
  const { access = "write" } = options;
  const root = openRoot(dataDir, path, nethash, options);
  let giveUpRole: (() => Promise<void>) | undefined;
  try {
    if (access === "write") giveUpRole = becomeWriter(path, rootOptions(options));
    checkFormat(root, path, nethash);
    const db = openDatabases(root);
    const committing = createCommitWorker(path, rootOptions(options));
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      try {
        await committing.close();
        if (access !== "read") endWriting({ path, root });
        await root.close();
      } finally {
        await giveUpRole?.();
      }
    };
    const { writes = unwatched } = options;
    noteFile({ path, root });
    const commit = async (log: LogBytes): Promise<void> => {
      // Nothing is wrong with it: the blocks come again at the next start.
      if (closing !== undefined) throw new PorticoError("STORE_UNWRITABLE", "The store is closed.");
      try {
        checkWritable({ path, root }, log.length);
        await committing.commit(log);
      } catch (error) {
        throw writes.failed("blocks", whyUnwritten({ path, root }, error));
      }
      // An empty log shows that nothing is wrong with the file, but not that a block could be written.
      if (log.length > 0) writes.succeeded("blocks");
    };
    const environment = { path, root, db, commit, writes, close: () => (closing ??= close()) };
    options.check?.(environment);
    if (access === "write") noteFullLength(environment);
    return environment;
  } catch (cause) {
    void root.close();
    void giveUpRole?.();
    if (cause instanceof PorticoError) throw cause;
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
};
