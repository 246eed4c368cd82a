import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode } from "../fixtures/node.js";
import { createReceiver } from "./receiver.js";

describe("a node that starts from a copy of its data folder", () => {
  it("sends the events of the blocks since then once more, under the same ids", async () => {
    const { blocks } = loadChain("core3-testnet-a");
    const receiver = await createReceiver();
    const root = temporaryFolder();
    const startNode = async (name: string, height: number): Promise<ApiPlugin> => {
      const plugin = createNode({ dataDir: join(root, name), blocks: blocks.slice(0, height), options: { webhooks: { allowTargets: ["127.0.0.1/32"] } } });
      await plugin.start();
      await plugin.settled();
      return plugin;
    };
    /** What a node sends of the blocks up to a height, and under which ids. */
    const told = async (name: string, height: number): Promise<string[]> => {
      const before = receiver.received.length;
      const events = blocks.slice(10, height).reduce((sum, { numberOfTransactions }) => sum + 1 + numberOfTransactions, 0);
      const node = await startNode(name, height);
      await receiver.until(before + events);
      await node.stop();
      return receiver.received.slice(before).map(({ headers, json }) => `${String(headers["webhook-id"])} ${(json as unknown as { id: string }).id}`).sort();
    };
    const node = await startNode("node", 10);
    node.webhooks?.create({ events: ["block.applied", "transaction.applied"], target: `${receiver.url}/` });
    await node.stop();
    cpSync(join(root, "node"), join(root, "copy"), { recursive: true });
    const first = await told("node", 25);
    expect(new Set(first).size).to.equal(first.length);
    expect(await told("copy", 25)).to.deep.equal(first);
  });
});
