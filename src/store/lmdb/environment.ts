import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Database, DatabaseOptions, RootDatabase, RootDatabaseOptionsWithPath } from "lmdb";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { messageOf, PorticoError } from "../../errors.js";
import { makeDataDir } from "../../files/make-folder.js";
import { withoutTrailing } from "../../text/digits.js";
import { checksumsKey } from "../layout/checksums.js";
import type { LogBytes } from "../layout/write-log.js";
import { fullLengthName } from "./safe/file-check.js";
import { makeWhole, openSound } from "./open-file.js";
import { type DatabaseName, databases, type Format, formatKey, layoutVersion, textKey } from "../layout/keys.js";
import { becomeWriter } from "./writer-lock.js";
import { endWriting, transactAnyway, checkWritable, noteFile, whyUnwritten, WriteRefused } from "./safe/transact.js";
import type { Problem, Problems } from "../../operate/problems.js";

/** Who writes: each can fail while the others do not. */
type WritePart = "blocks" | "webhooks" | "events" | "journal";

/** Is told how writes to the store go: a store that cannot be written is said in `health`, and logged when that begins and when it ends. */
export interface WriteWatch {
  /** Returns what to throw: PorticoError STORE_UNWRITABLE. */
  failed(part: WritePart, error: unknown): PorticoError;
  succeeded(part: WritePart): void;
  /** Whether a part has failed, and not succeeded since. */
  isFailing(part: WritePart): boolean;
}

/** Whether nothing can be written at present, as `health` and the log have been told. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof WriteRefused || (error instanceof PorticoError && error.code === "STORE_UNWRITABLE");

const unwritable = (error: unknown): PorticoError =>
  error instanceof PorticoError && error.code === "STORE_UNWRITABLE"
    ? error
    : new PorticoError("STORE_UNWRITABLE", `The store cannot be written: ${messageOf(error)}.`, { cause: error });

const reasonOf = (error: unknown): string =>
  messageOf(error instanceof PorticoError && error.code === "STORE_UNWRITABLE" ? (error.cause ?? error) : error);

const kind = (reason: string): "full disk" | "store cannot be written" =>
  (/\bdisk (?:is full|quota)/.test(reason) ? "full disk" : "store cannot be written");

const texts = { kind, begun: "the store cannot be written", ended: "the store can be written again" };

export const createWriteWatch = (problems: Pick<Problems, "define">): WriteWatch => {
  const problem: Problem = problems.define(texts);
  const failing = new Set<WritePart>();
  return {
    failed: (part, error) => {
      failing.add(part);
      problem.begin(reasonOf(error), part);
      return unwritable(error);
    },
    succeeded: (part) => {
      if (failing.delete(part)) problem.end(part);
    },
    isFailing: (part) => failing.has(part),
  };
};

/** Of a store that nobody watches. */
export const unwatched: WriteWatch = { failed: (_, error) => unwritable(error), succeeded: () => undefined, isFailing: () => false };

/** What the thread is started with. */
export interface CommitThreadData {
  path: string;
  options: Omit<RootDatabaseOptionsWithPath, "path">;
  /** Of the databases, each at the index by which logs of entries name it. */
  names: string[];
  /** One element: how many logs the thread has not written yet. The thread counts it down. */
  owed: Int32Array;
}

/** Commits in a thread of its own: LMDB copies pages for longer than a process may keep its clients waiting. */
interface CommitWorker {
  /**
   * Writes the entries of a log (write-log.ts) in one LMDB transaction. Resolves when they are on the disk; rejects when none is written.
   * It also rejects when the thread dies, in which case either all of them are written or none. The log must not change before.
   */
  commit(log: LogBytes): Promise<void>;
  /** Resolves when all is written and the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** The thread's objects are short-lived: a larger young generation would only cost the process memory. */
const maxYoungGenerationSizeMb = 4;

/** Milliseconds that an exiting process waits for the thread, at the most. */
const longestExit = 10_000;

/** A thread terminated within its transaction would keep LMDB's lock, for which lmdb-js waits forever when the process exits. */
const waitUntilWritten = (owed: Int32Array): void => {
  const begun = performance.now();
  for (let left = Atomics.load(owed, 0); left > 0 && performance.now() - begun < longestExit; left = Atomics.load(owed, 0)) {
    Atomics.wait(owed, 0, left, longestExit);
  }
};

/** The thread starts with the first log, and keeps the process alive only while it writes. */
export const createCommitWorker = (path: string, options: CommitThreadData["options"]): CommitWorker => {
  let thread: Worker | undefined;
  let ended: Promise<void> = Promise.resolve();
  const waiting: Waiting[] = [];
  const owed = new Int32Array(new SharedArrayBuffer(4));

  const onExit = (): void => waitUntilWritten(owed);

  const expect = (from: Worker, answer: Waiting): void => {
    if (waiting.push(answer) > 1) return;
    from.ref();
    process.on("exit", onExit);
  };

  const expectNothing = (from: Worker): void => {
    from.unref();
    process.off("exit", onExit);
  };

  const start = (): Worker => {
    const workerData: CommitThreadData = { path, options, names: Object.keys(databases), owed };
    const started = new Worker(new URL("./commit-thread.js", import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb },
      // It leaves a lock file open (transact.js), which must not be closed when it ends.
      trackUnmanagedFds: false,
    });
    let fault: unknown;
    ended = new Promise((resolve) => {
      started.on("error", (error) => (fault = error));
      started.on("exit", () => {
        thread = undefined;
        Atomics.store(owed, 0, 0);
        expectNothing(started);
        const why = fault === undefined ? "for an unknown reason" : messageOf(fault);
        for (const { reject } of waiting.splice(0))
          reject(new Error(`the thread that writes the store has ended: ${why}`, { cause: fault }));
        resolve();
      });
    });
    started.on("message", (failure: string | undefined) => {
      const next = waiting.shift();
      if (waiting.length === 0) expectNothing(started);
      if (failure === undefined) next?.resolve();
      else next?.reject(new Error(`LMDB cannot write: ${failure}`));
    });
    return started;
  };

  return {
    commit: (log) =>
      new Promise((resolve, reject) => {
        thread ??= start();
        // First, so that no answer is expected to what could not be posted.
        thread.postMessage(log);
        Atomics.add(owed, 0, 1);
        expect(thread, { resolve, reject });
      }),
    close: async () => {
      thread?.ref();
      thread?.postMessage(null);
      await ended;
    },
  };
};

export type StoreDatabase = Database<unknown, Buffer>;
export type StoreDatabases = Record<DatabaseName, StoreDatabase>;

/** An open LMDB environment with its databases. */
export interface Environment {
  readonly path: string;
  readonly root: RootDatabase<unknown, Buffer>;
  readonly db: StoreDatabases;
  /** Commits all entries of a log in one transaction, in another thread. @throws PorticoError STORE_UNWRITABLE */
  commit(log: LogBytes): Promise<void>;
  readonly writes: WriteWatch;
  close(): Promise<void>;
}

/**
 * What a process may do with a store. `write`: everything; one process at a time. `read`: nothing is written. Only `write` makes a store
 * that is not there.
 */
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
    `${path} is not a store of layout ${layoutVersion}, the only one that this version reads: move it away and the chain is reindexed from the block source; webhooks are kept`,
  );

/** Only looks: a database that is not there would be made by opening it. @throws PorticoError STORE_FOREIGN */
const checkFormat = (root: RootDatabase<unknown, Buffer>, path: string, nethash: string): void => {
  const found = hasDatabase(root, "meta") ? (openDatabase(root, "meta").get(formatKey) as Format | undefined) : undefined;
  if (found?.layout !== layoutVersion) throw otherLayout(path);
  if (found.nethash !== nethash)
    throw new PorticoError("STORE_FOREIGN", `${path} belongs to the network ${found.nethash}, not to ${nethash}`);
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
