import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { exportWebhooks } from "../../src/index.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode } from "../fixtures/node.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { eventually, localTargets } from "./stage.js";

const chain = loadChain("core3-testnet-a");
const [first, last] = [20, 30];
const page = { offset: 0, limit: 100 };

describe("webhooks in a file of their own", () => {
  let receiver: Receiver;
  let plugin: ApiPlugin;
  let known: BlockData[];
  let events: EventEmitter;
  const open = async (dataDir: string): Promise<void> => {
    events = new EventEmitter();
    plugin = createNode({
      ...{ events, dataDir },
      blocks: { read: (from, limit) => known.slice(from - 1, from - 1 + limit) },
      options: { webhooks: { tokens: ["any-token-will-do"], allowTargets: localTargets, schedule: Array.from({ length: 100 }, () => 50) } },
    });
    await plugin.start();
    await plugin.settled();
  };
  const apply = async (height: number): Promise<void> => {
    known = chain.blocks.slice(0, height);
    const { transactions: _, ...header } = chain.blocks[height - 1] ?? expect.fail();
    events.emit("block.applied", header);
    await plugin.settled();
  };
  const heightsOf = (path: string): number[] => receiver.received.filter((one) => one.path === path).map(({ json }) => (json.data as BlockData).height);
  const accepted = (path: string): Received[] => receiver.received.filter((one) => one.path === path && !refused.has(one));
  let refused: Set<Received>;
  let refuses: boolean;

  beforeEach(async () => {
    known = chain.blocks.slice(0, first);
    receiver = await createReceiver();
    [refused, refuses] = [new Set(), false];
    receiver.answer = (request, response) => {
      if (refuses) refused.add(request);
      response.writeHead(refuses ? 500 : 200).end();
    };
  });

  const quiet = async (): Promise<void> => {
    const isOpen = (id: number): boolean => (["pending", "retrying"] as const).some((state) => (plugin.webhooks?.deliveries(id, state, page).total ?? 0) > 0);
    await eventually(() => (plugin.webhooks?.list(page).rows.every(({ id, behind }) => behind === 0 && !isOpen(id)) === true ? true : undefined));
  };

  for (const [what, destroy] of [
    ["deleted", (path: string) => ["", "-lock", "-writer"].forEach((end) => rmSync(`${path}${end}`, { force: true }))],
    ["deleted in favour of nothing but a torn file, which is moved away", (path: string) => (writeFileSync(path, "torn"), ["", "-lock", "-writer"].forEach((end) => rmSync(`${path}${end}`, { force: true })))],
  ] as const) {
    it(`outlive the chain's store: ${what}, they go on with their secrets, cursors and open deliveries; no event is lost or doubled`, async () => {
      const dataDir = temporaryFolder();
      await open(dataDir);
      const made = Array.from({ length: 3 }, (_, index) => plugin.webhooks?.create({ events: ["block.applied", "block.reverted"], target: `${receiver.url}/${index}`, order: "strict", from: 10 }) ?? expect.fail());
      await quiet();
      refuses = true;
      await apply(first + 1);
      await eventually(() => (refused.size >= 3 ? true : undefined));
      await plugin.stop();
      destroy(join(dataDir, "chain.mdb"));
      known = chain.blocks.slice(0, last);
      refuses = false;
      await open(dataDir);
      await quiet();
      for (const [index, { id, token }] of made.entries()) {
        expect(accepted(`/${index}`).map(({ json }) => (json.data as BlockData).height)).to.deep.equal(Array.from({ length: last - 10 }, (_, at) => 11 + at));
        expect(new Set(accepted(`/${index}`).map(({ headers }) => headers["authorization"]))).to.deep.equal(new Set([token.slice(0, 32)]));
        expect(plugin.webhooks?.get(id).cursor).to.match(new RegExp(`^${last}-`));
      }
    });
  }

  it("are carried to another machine under their ids, secrets and webhook-ids, and go on there with the first that had not arrived", async () => {
    const [here, there] = [temporaryFolder(), temporaryFolder()];
    await open(here);
    plugin.webhooks?.remove(plugin.webhooks.create({ event: "block.applied", target: receiver.url }).id);
    const made = plugin.webhooks?.create({ event: "block.applied", target: `${receiver.url}/hook`, order: "strict", headers: { bigint: "5" }, conditions: [{ key: "totalAmount", condition: "gte", value: -(2n ** 70n) }] }) ?? expect.fail();
    await apply(first + 1);
    await quiet();
    refuses = true;
    await apply(first + 2);
    await eventually(() => (refused.size > 0 ? true : undefined));
    const beside = await exportWebhooks({ dataDir: here });
    await plugin.stop();
    const text = await exportWebhooks({ dataDir: here });
    expect(JSON.parse(beside)).to.deep.equal(JSON.parse(text));
    refuses = false;
    await open(there);
    expect(plugin.webhooks?.import(text)).to.equal(1);
    expect(() => plugin.webhooks?.import(text)).to.throw("these ids are in use: 2");
    await apply(first + 3);
    await quiet();
    expect([...new Set(heightsOf("/hook"))]).to.deep.equal([first + 1, first + 2, first + 3]);
    expect(accepted("/hook")).to.have.length(3);
    const names = [...refused].map(({ headers }) => headers["webhook-id"]);
    expect(new Set([...names, accepted("/hook")[1]?.headers["webhook-id"]]).size, "under the same name").to.equal(1);
    expect(accepted("/hook")[2]?.headers).to.include({ authorization: made.token.slice(0, 32), bigint: "5" });
    expect(plugin.webhooks?.create({ event: "block.applied", target: receiver.url }).id).to.equal(made.id + 1);
    expect(() => plugin.webhooks?.import("{}")).to.throw("not a webhook export");
  });
});
