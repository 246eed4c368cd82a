import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { RootDatabaseOptionsWithPath } from "lmdb";
import { messageOf } from "../../errors.js";
import type { LogBytes } from "../layout/write-log.js";
import { databases } from "../layout/keys.js";

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
        for (const { reject } of waiting.splice(0)) reject(new Error(`the thread that writes the store has ended: ${why}`, { cause: fault }));
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
