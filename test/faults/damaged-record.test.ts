import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { RootDatabase } from "lmdb";
import { asBinary } from "lmdb";
import { createApiPlugin } from "../../src/index.js";
import { numberKey } from "../../src/store/layout/keys.js";
import { openWebhookStore } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";
import { ask } from "../http/ask.js";
import { silentLogger } from "../silent.js";
import { closeStores, closeTemporaryStores, openStoreAt } from "../store/temporary-store.js";
import { webhookRow } from "../webhooks/webhook-row.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const blocks = chain.blocks.slice(0, 30);
const token = "a-token-of-thirty-two-characters!";

describe("a read that meets a damaged record", () => {
  afterEach(closeTemporaryStores);

  /** What damage leaves of a record. */
  const damages: Record<string, (bytes: Buffer) => Buffer | undefined> = {
    "cannot be decoded": () => Buffer.from([0xd9, 0xff, 0x61]),
    "is cut off": (bytes) => bytes.subarray(0, 100),
    "is gone": () => undefined,
  };

  for (const [what, left] of Object.entries(damages)) {
    it(`that ${what} is answered with 500 and the reason, and health is failing from then on`, async () => {
      const { store, dataDir } = await openStoreAt(name, blocks.length);
      store.markComplete();
      const { db } = store.environment;
      const height = numberKey(17);
      const bytes = left(Buffer.from(db.blocks.getBinary(height) ?? []));
      if (bytes === undefined) db.blocks.removeSync(height);
      else db.blocks.putSync(height, asBinary(bytes));
      await closeStores();

      const lines: string[] = [];
      const note = (message: string): void => void lines.push(message);
      const plugin = createApiPlugin({
        network: chain.network,
        events: new EventEmitter(),
        dataDir,
        blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) },
        logger: { debug: () => undefined, info: () => undefined, warn: note, error: note },
        options: { webhooks: false },
      });
      const server = await plugin.listen(0);
      try {
        const { port } = server.address() as { port: number };
        await plugin.settled();
        expect((await ask(port, "/api/blocks?limit=5")).status).to.equal(200);
        expect(plugin.health().status).to.equal("ok");
        for (let times = 0; times < 3; times++) {
          const { status, json } = await ask(port, "/api/blocks?limit=5&offset=11");
          expect(status).to.equal(500);
          expect((json as { message: string }).message).to.match(/^The store is damaged: /);
        }
        const { status, json } = await ask(port, "/api/health");
        expect([status, (json as { status: string }).status]).to.deep.equal([503, "failing"]);
        expect((json as { problem: string }).problem).to.match(/^the store is damaged: .* verify the store .* until the node is restarted/);
        expect(lines.filter((line) => line.includes("damaged"))).to.have.length(1);
      } finally {
        await plugin.stop();
      }
    });
  }

  it("that is of a webhook, by one letter of its target, is answered with 500 in the place of another target, and health is failing from then on", async () => {
    const { store, dataDir } = await openStoreAt(name, blocks.length);
    store.markComplete();
    const { store: webhooks, environment, close } = openWebhookStore(dataDir);
    webhooks.transaction(() => void webhooks.addWebhook(webhookRow));
    const register = (environment.root as RootDatabase).openDB<Buffer, number>({ name: "webhooks-register", encoding: "binary", keyEncoding: "ordered-binary" } as object as { name: string });
    const bytes = Buffer.from(register.get(1) ?? []);
    const at = bytes.indexOf(webhookRow.target);
    expect(at).to.be.above(0);
    bytes[at + 9] = (bytes[at + 9] ?? 0) ^ 1;
    register.putSync(1, bytes);
    await close();
    await closeStores();

    const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), dataDir, blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) }, logger: silentLogger, options: { webhooks: { tokens: [token] } } });
    const server = await plugin.listen(0);
    try {
      const { port } = server.address() as { port: number };
      const { status, json } = await ask(port, "/api/webhooks/1", { headers: { authorization: token } });
      expect([status, (json as { message: string }).message]).to.deep.equal([500, "The store is damaged: a row of the webhooks is not what was written."]);
      expect((await ask(port, "/api/blocks?limit=5")).status).to.equal(200);
      expect((await ask(port, "/api/health")).status).to.equal(503);
    } finally {
      await plugin.stop();
    }
  });
});
