import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { RootDatabaseOptionsWithPath } from "lmdb";
import { messageOf } from "../errors.js";
import { databases } from "./keys.js";

/** What the thread is started with. */
export interface CommitThreadData {
  path: string;
  options: Omit<RootDatabaseOptionsWithPath, "path">;
  /** By the places that logs of entries name them by. */
  names: string[];
  /** How many logs the thread has not written yet: one number, which it counts down. */
  owed: Int32Array;
}

/** Commits what is worked out in a thread of its own: LMDB copies pages for longer than a process may keep its clients waiting. */
export interface Committing {
  /** Writes the entries of a log (entry-log.ts) in one LMDB transaction. Resolves when they are on the disk; rejects when none is written. */
  commit(log: Buffer): Promise<void>;
  /** Resolves when all is written and the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** What the thread makes is gone at once: much room for it would only be memory of the process. */
const maxYoungGenerationSizeMb = 4;

/** Milliseconds that a process which exits waits for the thread. */
const longestExit = 10_000;

/** The thread starts with the first log, and keeps the process from ending only while it writes. */
export const createCommitting = (path: string, options: CommitThreadData["options"]): Committing => {
  let thread: Worker | undefined;
  let ended: Promise<void> = Promise.resolve();
  const waiting: Waiting[] = [];
  const owed = new Int32Array(new SharedArrayBuffer(4));

  /** A thread that were ended within its transaction would hold LMDB's lock, for which lmdb-js waits when the process exits: for good. */
  const onExit = (): void => {
    const begun = performance.now();
    for (let left = Atomics.load(owed, 0); left > 0 && performance.now() - begun < longestExit; left = Atomics.load(owed, 0)) {
      Atomics.wait(owed, 0, left, longestExit);
    }
  };

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
      // It leaves a lock file open (transact.js), which is not to be closed with it.
      trackUnmanagedFds: false,
    });
    let fault: unknown;
    ended = new Promise((resolve) => {
      started.on("error", (error) => (fault = error));
      started.on("exit", () => {
        thread = undefined;
        Atomics.store(owed, 0, 0);
        expectNothing(started);
        const why = fault === undefined ? "nobody knows why" : messageOf(fault);
        for (const { reject } of waiting.splice(0)) reject(new Error(`the thread that writes has ended: ${why}`, { cause: fault }));
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
        // A copy of just these bytes: what a view lies in would be sent whole. Made first: where there is no room for it, nothing is owed.
        const bytes = new Uint8Array(log);
        thread ??= start();
        expect(thread, { resolve, reject });
        Atomics.add(owed, 0, 1);
        thread.postMessage(bytes, [bytes.buffer]);
      }),
    close: async () => {
      thread?.ref();
      thread?.postMessage(null);
      await ended;
    },
  };
};
