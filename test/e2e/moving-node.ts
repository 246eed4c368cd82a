import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { type StartedNode, startNode } from "../fixtures/node.js";
import type { Answer } from "../http/ask.js";

/** A node whose chain a test moves, block by block. */
export interface MovingNode extends Pick<StartedNode, "port" | "get" | "stop"> {
  readonly dataDir: string;
  readonly chain: ChainAdapter;
  post(path: string, body: object): Promise<Answer>;
  /** Resolves when they are written, which takes less if they come together. */
  apply(...blocks: BlockData[]): Promise<void>;
  revert(): Promise<void>;
  height(): number;
}

export const startMovingNode = async (network: Network, genesis: BlockData, options: PorticoOptions = {}): Promise<MovingNode> => {
  const dataDir = temporaryFolder();
  const chain: BlockData[] = [genesis];
  const source = { read: (from: number, limit: number) => chain.slice(from - 1, from - 1 + limit), height: () => chain.length };
  const { plugin, events, port, get, stop } = await startNode({ network, dataDir, blocks: source, options: { webhooks: false, ...options } });
  return {
    dataDir,
    port,
    get,
    stop,
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
  };
};
