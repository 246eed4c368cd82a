import { Worker } from "node:worker_threads";
import { RE2JS } from "re2js";

/** Compiles a regular expression in RE2 syntax. @throws Error where it does not compile */
export const compilePattern = (source: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(source));

/** The parts of a pattern: quoted text, an escaped character, a class, a count such as `{2,40}`, any other character. */
const parts = /\\Q[^]*?(?:\\E|$)|\\[^]|\[(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gu;

/** Instructions of a group, beside those of what is in it. */
const groupSize = 2;

/**
 * About how many instructions a pattern compiles to, told from its text alone: compiling `(x{1000})` a hundred times over, or worse, takes
 * up to a second. Groups that capture nothing or have a name count as somewhat larger than they are.
 */
const roughSizeOf = (source: string): number => {
  const outer: number[] = [];
  /** Of the open group so far, and of the part that a count would repeat. */
  let [size, last] = [0, 0];
  for (const [part, least, most] of source.matchAll(parts)) {
    if (part === "(") {
      outer.push(size);
      size = 0;
    } else if (part === ")") {
      last = size + groupSize;
      size = (outer.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1);
      size += last * (times - 1);
      last *= times;
    } else {
      last = part.startsWith("\\Q") ? part.length : 1;
      size += last;
    }
  }
  return size;
};

/**
 * How many instructions a pattern compiles to: what it costs in memory and, with each character of a text, in time. If that is far more
 * than `most`, only about how many.
 * @throws Error where it does not compile
 */
export const patternSize = (source: string, most: number): number => {
  const rough = roughSizeOf(source);
  return rough > 4 * most ? rough : compilePattern(source).programSize();
};

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
