import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../types/node-context.js";
import { pause } from "../async/clock.js";
import { messageOf } from "../errors.js";
import { putFile } from "../lake/files.js";
import { isObject } from "./node-client.js";

/** What the node has said of itself, kept in the data folder: it is still served while the node is away, also after a restart. */
export interface AnswerStore {
  get(name: string): unknown;
  put(name: string, value: unknown): void;
  /** Resolves when everything is on the disk, or cannot be. */
  settled(): Promise<void>;
}

const fileName = "followed-node.json";

/** Milliseconds between two writes: the state of its sync changes with each block, and a network may have thousands of peers. */
const writeInterval = 2_000;

/** What nobody wants to know after a restart, and may be thousands of transactions. */
const fleeting = new Set(["pool"]);

const readStore = (path: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** `url`: what another node has said is not this one's. */
export const openAnswerStore = (dataDir: string | undefined, url: string, logger: Logger): AnswerStore => {
  const path = dataDir === undefined ? undefined : join(dataDir, fileName);
  const kept = path === undefined ? {} : readStore(path);
  const values: Record<string, unknown> = kept["url"] === url ? kept : { url };
  let [writing, dirty, hurry] = [undefined as Promise<void> | undefined, false, new AbortController()];
  /** What is on the disk. */
  let written: string | undefined;
  let failure: string | undefined;

  const writeOnce = async (to: string): Promise<void> => {
    const text = JSON.stringify(Object.fromEntries(Object.entries(values).filter(([name]) => !fleeting.has(name))));
    if (text === written) return;
    try {
      await putFile(to, Buffer.from(text));
      [written, failure] = [text, undefined];
    } catch (error) {
      if (failure === undefined) logger.warn(`the node's answers cannot be saved: ${messageOf(error)}`);
      failure = messageOf(error);
    }
  };

  const write = async (to: string): Promise<void> => {
    for (; dirty; await pause(writeInterval, hurry.signal)) {
      dirty = false;
      await writeOnce(to);
    }
    writing = undefined;
  };

  return {
    get: (name) => values[name],
    put: (name, value) => {
      values[name] = value;
      if (fleeting.has(name)) return;
      dirty = true;
      if (path !== undefined) writing ??= write(path);
    },
    settled: async () => {
      hurry.abort();
      await writing;
      hurry = new AbortController();
    },
  };
};

/** An answer of the node that is asked for again when it has become old; while the node is away, the last one holds. */
export interface Answer<T> {
  get(): Promise<T>;
  /** The next `get` asks the node, even while an earlier question is under way. */
  forget(): void;
}

interface AnswerNeeds<T> {
  name: string;
  /** Asks the node. */
  ask(): Promise<T>;
  /** Where there has been no answer yet. */
  otherwise?: T | undefined;
  answers: AnswerStore;
  /** Whether there is any use in asking. */
  isReachable(): boolean;
  /** Milliseconds, by a clock that is never set. */
  now(): number;
  /** Milliseconds for which an answer is taken to be true. */
  goodFor: number;
}

export const createAnswer = <T>({ name, ask, otherwise, answers, isReachable, now, goodFor }: AnswerNeeds<T>): Answer<T> => {
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;
  let failure: string | undefined;
  /** Questions asked, and the one whose answer is kept: an older one may be answered later. */
  let [asks, kept] = [0, 0];

  const renew = async (): Promise<void> => {
    const own = ++asks;
    try {
      const answer = await ask();
      if (own > kept) answers.put(name, answer);
      kept = Math.max(own, kept);
      failure = undefined;
    } catch (error) {
      failure = messageOf(error);
    }
    // One that was forgotten meanwhile is not taken to be new.
    if (own !== asks || asking === undefined) return;
    askedAt = now();
    asking = undefined;
  };

  return {
    get: async () => {
      if (isReachable() && now() - askedAt >= goodFor) await (asking ??= renew());
      const last = (answers.get(name) as T | undefined) ?? otherwise;
      if (last === undefined) throw new Error(`the node has not returned its ${name} yet: ${failure ?? "it cannot be reached"}`);
      return last;
    },
    forget: () => {
      askedAt = -Infinity;
      asking = undefined;
    },
  };
};
