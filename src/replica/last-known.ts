import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../types/node-context.js";
import { pause } from "../async/pause.js";
import { messageOf } from "../errors.js";
import { putFile } from "../lake/files.js";

/** What the node has said of itself, kept in the data folder: it is still served while the node is away, also after a restart. */
export interface LastKnown {
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

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const readKept = (path: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** `url`: what another node has said is not this one's. */
export const openLastKnown = (dataDir: string | undefined, url: string, logger: Logger): LastKnown => {
  const path = dataDir === undefined ? undefined : join(dataDir, fileName);
  const kept = path === undefined ? {} : readKept(path);
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
      if (failure === undefined) logger.warn(`what the node says of itself cannot be kept: ${messageOf(error)}`);
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
