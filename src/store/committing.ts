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

/** The thread starts with the first log, and keeps the process from ending only while it writes. */
export const createCommitting = (path: string, options: CommitThreadData["options"]): Committing => {
  let thread: Worker | undefined;
  let ended: Promise<void> = Promise.resolve();
  const waiting: Waiting[] = [];

  const start = (): Worker => {
    const workerData: CommitThreadData = { path, options, names: Object.keys(databases) };
    const started = new Worker(new URL("./commit-thread.js", import.meta.url), { workerData, execArgv: [] });
    let fault: unknown;
    ended = new Promise((resolve) => {
      started.on("error", (error) => (fault = error));
      started.on("exit", () => {
        thread = undefined;
        for (const { reject } of waiting.splice(0)) reject(new Error(`the thread that writes has ended: ${fault === undefined ? "nobody knows why" : messageOf(fault)}`, { cause: fault }));
        resolve();
      });
    });
    started.on("message", (failure: string | undefined) => {
      const next = waiting.shift();
      if (waiting.length === 0) started.unref();
      if (failure === undefined) next?.resolve();
      else next?.reject(new Error(`LMDB cannot write: ${failure}`));
    });
    return started;
  };

  return {
    commit: (log) =>
      new Promise((resolve, reject) => {
        thread ??= start();
        thread.ref();
        waiting.push({ resolve, reject });
        thread.postMessage(log);
      }),
    close: async () => {
      thread?.ref();
      thread?.postMessage(null);
      await ended;
    },
  };
};
