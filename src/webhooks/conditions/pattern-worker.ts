import { Worker } from "node:worker_threads";

export interface PatternJob {
  number: number;
  source: string;
  text: string;
}

interface PatternAnswer {
  number: number;
  holds: boolean;
}

/** Tries patterns in a thread of its own: on a long text, one pattern may take a second. */
export interface PatternWorker {
  /** Rejects if the thread fails or is closed. */
  test(source: string, text: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The thread starts with the first job, and does not keep the process alive. */
export const createPatternWorker = (): PatternWorker => {
  const waiting = new Map<number, { resolve(holds: boolean): void; reject(error: Error): void }>();
  let thread: Worker | undefined;
  let last = 0;

  const fail = (error: Error): void => {
    thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };

  const start = (): Worker => {
    const started = new Worker(new URL("./pattern-thread.js", import.meta.url), { execArgv: [] });
    let fault = new Error("The thread that tries patterns has ended.");
    started.on("error", (error) => (fault = error instanceof Error ? error : new Error(String(error))));
    started.on("exit", () => {
      if (thread === started) fail(fault);
    });
    started.on("message", ({ number, holds }: PatternAnswer) => {
      waiting.get(number)?.resolve(holds);
      waiting.delete(number);
    });
    started.unref();
    return started;
  };

  return {
    test: (source, text) =>
      new Promise((resolve, reject) => {
        const number = ++last;
        waiting.set(number, { resolve, reject });
        thread ??= start();
        thread.postMessage({ number, source, text } satisfies PatternJob);
      }),
    close: async () => {
      const ending = thread;
      fail(new Error("The engine has stopped."));
      await ending?.terminate();
    },
  };
};
