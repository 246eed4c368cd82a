import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../../src/plugin/plugin.js";
import type { Logger, NodeContext } from "../../../types/node-context.js";
import type { ApiPlugin } from "../../../types/plugin.js";

const silent = (): void => undefined;
export const logger = { debug: silent, info: silent, warn: console.error, error: console.error };

/** A node that listens in this process. */
export interface BenchNode {
  readonly plugin: ApiPlugin;
  readonly events: EventEmitter;
  readonly port: number;
}

export const startNode = async (context: Omit<NodeContext, "events" | "logger"> & { logger?: Logger }): Promise<BenchNode> => {
  const events = new EventEmitter();
  const plugin = createApiPlugin({ logger, ...context, events });
  const { port } = (await plugin.listen(0, "127.0.0.1")).address() as AddressInfo;
  return { plugin, events, port };
};
