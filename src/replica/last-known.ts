import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../types/node-context.js";
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
  let [writing, dirty] = [undefined as Promise<void> | undefined, false];
  let failure: string | undefined;

  const write = async (to: string): Promise<void> => {
    while (dirty) {
      dirty = false;
      try {
        await putFile(to, Buffer.from(JSON.stringify(values)));
        failure = undefined;
      } catch (error) {
        if (failure === undefined) logger.warn(`what the node says of itself cannot be kept: ${messageOf(error)}`);
        failure = messageOf(error);
      }
    }
    writing = undefined;
  };

  return {
    get: (name) => values[name],
    put: (name, value) => {
      if (JSON.stringify(values[name]) === JSON.stringify(value)) return;
      values[name] = value;
      dirty = true;
      if (path !== undefined) writing ??= write(path);
    },
    settled: async () => writing,
  };
};
