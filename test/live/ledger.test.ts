import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { startLedger } from "./ledger-client.js";
import { balancesOfNode } from "./node-wallets.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startNode, createNode, listenTo } from "../fixtures/node.js";

const chain = loadChain("core3-custom-c");

/** Blocks without transactions on the block at a height. */
const emptyBranch = (from: number, count: number): BlockData[] => {
  const added: BlockData[] = [];
  for (const block of chain.blocks.slice(from, from + count)) {
    const previousBlock = added.at(-1)?.id ?? chain.blocks[from - 1]!.id;
    added.push({ ...block, id: `${block.id.slice(0, -4)}0000`, previousBlock, numberOfTransactions: 0, totalAmount: "0", totalFee: "0", transactions: [] });
  }
  return added;
};

const expectBalances = async (api: string, balances: ReadonlyMap<string, bigint>): Promise<void> => {
  const node = await balancesOfNode(api);
  expect(node.map(([address]) => [address, balances.get(address) ?? 0n])).to.deep.equal(node);
};

describe("The example client that follows the chain", () => {
  it("has the balances of the node's wallets, through forks and a restart of the node, whatever its transactions are", async () => {
    const dataDir = temporaryFolder();
    const events = new EventEmitter();
    const blocks = chain.blocks.slice(0, 200);
    const open = () => createNode({ network: chain.network, events, dataDir, blocks, options: { rateLimit: false, webhooks: false, amounts: "string" } });
    let plugin = open();
    const { port, url: api } = await listenTo(plugin);

    let [reached, wake] = ["", () => undefined as void];
    const ledger = startLedger(api, (cursor) => {
      reached = cursor;
      wake();
    });
    atEndOfTest(() => ledger.stop());
    const compare = async (): Promise<void> => {
      const { height, id } = blocks.at(-1)!;
      while (!reached.startsWith(`${height}-${id}`)) await new Promise<void>((resolve) => (wake = resolve));
      await expectBalances(api, ledger.balances);
    };
    const apply = async (...added: BlockData[]): Promise<void> => {
      for (const block of added) {
        blocks.push(block);
        events.emit("block.applied", block);
      }
      await plugin.settled();
    };
    const revertTo = async (height: number): Promise<void> => {
      while (blocks.length > height) events.emit("block.reverted", blocks.pop());
      await plugin.settled();
    };

    await compare();
    // What the last blocks pay, lock, claim and refund is taken back, and done again.
    await revertTo(155);
    await compare();
    await apply(...emptyBranch(155, 8));
    await compare();
    await revertTo(155);
    await apply(...chain.blocks.slice(155, 205));
    await compare();
    await plugin.stop();
    blocks.splice(170, Infinity, ...emptyBranch(170, 40));
    plugin = open();
    await plugin.listen(port);
    await compare();
  });

  it("applies no block twice and none by half where connections are cut within blocks, and waits for a node that is not ready", async () => {
    const blocks = chain.blocks.slice(0, 60);
    const { plugin, port } = await startNode({ network: chain.network, blocks, options: { rateLimit: false, webhooks: false } });
    await plugin.settled();
    /** Where each connection to the changes is cut: the first two end within genesis. */
    const cuts = [3_000, 20_000, 200_000, Infinity];
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      const relay = async (): Promise<void> => {
        const reply = await fetch(`http://127.0.0.1:${port}${request.url ?? ""}`);
        const isStream = request.url?.includes("/changes?") === true;
        if (isStream && asked.push(new URL(request.url ?? "", "http://node").searchParams.get("after") ?? "") === 3) return void response.writeHead(503).end();
        let left = isStream ? (cuts.shift() ?? 0) : Infinity;
        response.writeHead(reply.status, { "Content-Type": reply.headers.get("content-type") ?? "" });
        for await (const chunk of reply.body ?? []) {
          await new Promise((resolve) => response.write((chunk as Uint8Array).subarray(0, left), resolve));
          left -= (chunk as Uint8Array).length;
          if (left <= 0) return void response.destroy();
        }
        response.end();
      };
      relay().catch(() => response.destroy());
    }).listen(0, "127.0.0.1");
    atEndOfTest(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    await once(proxy, "listening");
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api`;
    const cursors: string[] = [];
    let wake = (): void => undefined;
    const ledger = startLedger(api, (cursor) => {
      cursors.push(cursor);
      wake();
    });
    atEndOfTest(() => ledger.stop());
    while (cursors.length < blocks.length) await new Promise<void>((resolve) => (wake = resolve));
    expect(cursors).to.deep.equal(blocks.map(({ height, id }) => `${height}-${id}`));
    expect(asked.slice(0, 4)).to.deep.equal(["genesis", "genesis", "genesis", "genesis"]);
    await expectBalances(api, ledger.balances);
  });
});
