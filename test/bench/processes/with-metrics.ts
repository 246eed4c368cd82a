/** One process that serves a store twice: without metrics, and with them. Two processes would differ by more than metrics cost. */
import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../../src/plugin/plugin.js";
import type { ApiPlugin } from "../../../types/plugin.js";
import { benchNetwork } from "../chain/chain.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { answerWith } from "./asking.js";
import { usage } from "./usage.js";

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: console.error, error: console.error };
const serving: ApiPlugin[] = [];

interface ServeInput {
  size: SizeName;
  dataDir: string;
  metrics: boolean;
  /** 0: nothing is cached; undefined: the default. */
  cacheSize: number | undefined;
}

const handlers = {
  /** Returns the port. */
  serve: async ({ size, dataDir, metrics, cacheSize }: ServeInput): Promise<number> => {
    const options = { webhooks: false as const, metrics, ...(cacheSize === undefined ? {} : { cacheSize }) };
    const plugin = createApiPlugin({ network: benchNetwork(sizes[size]), events: new EventEmitter(), dataDir, logger, options });
    serving.push(plugin);
    await plugin.start();
    return ((await plugin.listen(0, "127.0.0.1")).address() as AddressInfo).port;
  },
  usage,
  stop: async (): Promise<void> => void (await Promise.all(serving.map((plugin) => plugin.stop()))),
};

export type WithMetricsHandlers = typeof handlers;

answerWith(handlers);
