import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { balancesAt } from "../../examples/follow/bookings.js";
import { followLedger } from "../../examples/follow/ledger.js";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { BlockData } from "../../types/events.js";
import { silentLogger } from "../silent.js";
import { at, branch, chain } from "../store/branches.js";
import { balancesOfNode } from "./node-wallets.js";

describe("The example client that follows the event stream", function () {
  this.timeout(120_000);

  it("has the balances of the node's wallets, through forks and a restart of the node", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "portico-ledger-"));
    const events = new EventEmitter();
    const blocks = chain.blocks.slice(0, 60);
    const open = () =>
      createApiPlugin({
        network: chain.network,
        events,
        dataDir,
        blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) },
        logger: silentLogger,
        options: { rateLimit: false, webhooks: false, amounts: "string" },
      });
    let plugin = open();
    const server = await plugin.listen(0);
    const { port } = server.address() as AddressInfo;
    const api = `http://127.0.0.1:${port}/api`;

    let [reached, wake] = ["", () => undefined as void];
    const ledger = followLedger(api, (cursor) => {
      reached = cursor;
      wake();
    });
    const caughtUp = async (): Promise<void> => {
      const { height, id } = blocks.at(-1)!;
      while (!reached.startsWith(`${height}-${id}`)) await new Promise<void>((resolve) => (wake = resolve));
    };
    const compare = async (): Promise<void> => {
      await caughtUp();
      const node = await balancesOfNode(api);
      const balances = await balancesAt(api, ledger.bookings);
      expect(node.map(([address]) => [address, balances.get(address) ?? 0n])).to.deep.equal(node);
    };
    const apply = async (block: BlockData): Promise<void> => {
      blocks.push(block);
      events.emit("block.applied", block);
      await plugin.settled();
    };
    const revert = async (): Promise<void> => {
      events.emit("block.reverted", blocks.pop());
      await plugin.settled();
    };

    try {
      await compare();
      for (let height = 61; height <= 75; height++) await apply(at(height));
      await compare();
      for (let i = 0; i < 10; i++) await revert();
      for (const block of branch(65, 68)) await apply(block);
      await compare();
      await plugin.stop();
      for (let i = 0; i < 3; i++) blocks.pop();
      for (let height = 66; height <= 80; height++) blocks.push(at(height));
      plugin = open();
      await plugin.listen(port);
      await compare();
    } finally {
      ledger.close();
      await plugin.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it("goes on where it was after a status at which an EventSource gives up", async () => {
    const asked: string[] = [];
    const event = (id: string, cursor: string): string => `event: block.applied\ndata: ${JSON.stringify({ data: { generatorPublicKey: "02", reward: "5", totalFee: "0" }, cursor })}\nid: ${id}\n\n`;
    const server = createServer((request, response) => {
      asked.push(new URL(request.url ?? "", "http://node").searchParams.get("after") ?? "");
      if (asked.length === 2) return void response.writeHead(503).end();
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      // The first connection ends after a block; what comes next is refused.
      if (asked.length === 1) response.end(`retry: 1\n${event("2-a", "2-a")}`);
      else response.write(event("3-b", "3-b"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const cursors: string[] = [];
    let wake = (): void => undefined;
    const ledger = followLedger(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, (cursor) => {
      cursors.push(cursor);
      wake();
    });
    try {
      while (cursors.length < 2) await new Promise<void>((resolve) => (wake = resolve));
      expect([cursors, asked.at(-1), ledger.bookings.forged.get("02")]).to.deep.equal([["2-a", "3-b"], "2-a", 10n]);
    } finally {
      ledger.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
