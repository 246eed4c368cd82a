/** A replica in a process of its own. */
import type { AddressInfo } from "node:net";
import { createApiPlugin } from "../../../src/plugin/plugin.js";
import { followNode } from "../../../src/plugin/replica-context.js";
import type { ApiPlugin } from "../../../types/plugin.js";
import { answerWith } from "./asking.js";
import { usage } from "./usage.js";

const silent = (): void => undefined;
const said: string[] = [];
const logger = { debug: silent, info: (line: string) => void said.push(line), warn: console.error, error: console.error };

let serving: ApiPlugin | undefined;

const handlers = {
  /** Returns the port. */
  follow: async ({ url, dataDir }: { url: string; dataDir: string }): Promise<number> => {
    serving = createApiPlugin(await followNode({ url, dataDir, logger, options: { staleAfter: false } }));
    return ((await serving.listen(0, "127.0.0.1")).address() as AddressInfo).port;
  },
  /** What its log has said. */
  said: () => said,
  usage,
  stop: () => serving?.stop(),
};

export type ReplicaHandlers = typeof handlers;

answerWith(handlers);
