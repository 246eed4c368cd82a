import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { EventSource } from "eventsource";
import { webhookOptions } from "../e2e/reader-options.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startNode } from "../fixtures/node.js";
import { runExample, urlIn } from "../fixtures/process.js";
import { at, branch, chain } from "../store/branches.js";

describe("A reader in another process", () => {
  it("streams the blocks that the node commits, their reversals, and the host's events", async () => {
    const events = new EventEmitter();
    const dataDir = temporaryFolder();
    const blocks = chain.blocks.slice(0, 20);
    const { plugin: node } = await startNode({ events, dataDir, blocks, options: { webhooks: webhookOptions } });
    const reader = runExample("test/e2e/reader-process.ts", { DATA_DIR: dataDir, CHAIN: "core3-testnet-a" });
    const api = urlIn(await reader.line(/^listens at /));
    await reader.line(/^started/);
    const told: string[] = [];
    let wake = (): void => undefined;
    const source = new EventSource(`${api}/events?event=block.*,peer.added`);
    for (const name of ["block.applied", "block.reverted", "peer.added"]) {
      source.addEventListener(name, ({ data }) => {
        const { block } = JSON.parse(data as string) as { block: { id: string } | null };
        told.push(`${name} ${String(block?.id)}`);
        wake();
      });
    }
    await new Promise<void>((resolve) => source.addEventListener("open", () => resolve(), { once: true }));
    const [other] = branch(20, 21);
    events.emit("block.applied", at(21));
    await node.settled();
    while (told.length < 1) await new Promise<void>((resolve) => (wake = resolve));
    events.emit("peer.added", { ip: "10.0.0.1" });
    await node.settled();
    while (told.length < 2) await new Promise<void>((resolve) => (wake = resolve));
    events.emit("block.reverted", at(21));
    events.emit("block.applied", other);
    await node.settled();
    while (told.length < 4) await new Promise<void>((resolve) => (wake = resolve));
    source.close();
    expect(told).to.deep.equal([`block.applied ${at(21).id}`, "peer.added undefined", `block.reverted ${at(21).id}`, `block.applied ${other!.id}`]);
  });
});
