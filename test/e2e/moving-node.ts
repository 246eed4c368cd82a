import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { type Answer, ask, type Question } from "../http/ask.js";
import { temporaryFolder } from "../store/temporary-store.js";

/** A node whose chain a test moves, block by block; it listens. Its folder goes with `closeTemporaryStores`. */
export interface MovingNode {
  readonly dataDir: string;
  readonly port: number;
  readonly chain: ChainAdapter;
  get(path: string, question?: Question): Promise<Answer>;
  post(path: string, body: object): Promise<Answer>;
  /** Resolves when they are written, which takes less if they come together. */
  apply(...blocks: BlockData[]): Promise<void>;
  revert(): Promise<void>;
  height(): number;
  stop(): Promise<void>;
}

export const startMovingNode = async (network: Network, genesis: BlockData, options: PorticoOptions = {}): Promise<MovingNode> => {
  const dataDir = temporaryFolder();
  const chain: BlockData[] = [genesis];
  const events = new EventEmitter();
  const source = { read: (from: number, limit: number) => chain.slice(from - 1, from - 1 + limit), height: () => chain.length };
  const plugin: ApiPlugin = createApiPlugin({ network, events, dataDir, blocks: source, options: { webhooks: false, ...options } });
  const server = await plugin.listen(0);
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const get: MovingNode["get"] = (path, question) => ask(port, `/api${path}`, question);
  return {
    dataDir,
    port,
    get,
    post: (path, body) => get(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    apply: async (...blocks) => {
      for (const block of blocks) {
        chain.push(block);
        events.emit("block.applied", block);
      }
      await plugin.settled();
    },
    revert: async () => {
      events.emit("block.reverted", chain.pop());
      await plugin.settled();
    },
    chain: plugin.chain,
    height: () => chain.length,
    stop: () => plugin.stop(),
  };
};
