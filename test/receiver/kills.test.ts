import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { onlyWhere } from "../fixtures/installed.js";
import { lastingDatabases } from "../fixtures/lasting-databases.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { runProgram, type StartedProcess } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";
import { randomFrom } from "../follow/schedule.js";
import { freePort } from "../free-port.js";

const kills = count(2, 200);
/** A delivery takes four: eight moments. */
const statements = 150;

for (const [name, { isInstalled, otherwise, start: startDatabase }] of Object.entries(lastingDatabases)) {
  describe(`a receiver with an inbox in ${name}`, function () {
    if (isLong) this.timeout(0);
    onlyWhere(isInstalled, otherwise);

    it(`has each booking of the chain once, though it is killed ${kills} times, at any of its statements, while blocks come and go`, async () => {
      const random = randomFrom(seedOr(61));
      const { network, blocks } = loadChain("core3-custom-c");
      const { place, query } = await startDatabase();
      await query("CREATE TABLE paid (booking text PRIMARY KEY, webhook_id text)");

      const schedule = Array.from({ length: 2_000 }, () => 20);
      const node = await startMovingNode(network, blocks[0] as BlockData, { webhooks: { ...webhookOptions, schedule }, rateLimit: false });
      const headers = { authorization: token, "content-type": "application/json" };
      const port = await freePort();
      const body = { events: ["booking.*"], from: "genesis", order: "strict", target: `http://127.0.0.1:${port}` };
      const made = await node.get("/webhooks", { method: "POST", headers, body: JSON.stringify(body) });
      const { secret } = (made.json as { data: { secret: string } }).data;
      const start = (statement: number): StartedProcess =>
        runProgram("test/receiver/receiver-process.ts", [String(port), secret, String(statement), ...place]);

      for (let kill = 0; kill < kills; kill++) {
        const receiver = start(1 + Math.floor(random() * statements));
        for (let added = 0; added < 3; added++) await node.apply(blocks[node.height()] as BlockData);
        if (random() < 0.5) await node.revert();
        // Blocks of genesis alone have more bookings than all kills need.
        expect(await receiver.ended, receiver.lines.join("\n")).to.equal(null);
      }
      const survivor = start(0);
      const expected: string[] = [];
      for (let cursor = "genesis"; cursor !== ""; ) {
        const { json } = await node.get(`/events/feed?after=${cursor}&event=booking.applied&limit=1000`);
        const { data, meta } = json as { data: { data: { address: string; id: string } }[]; meta: { cursor: string } };
        expected.push(...data.map(({ data: { address, id } }) => `${address} ${id}`));
        cursor = data.length === 0 ? "" : meta.cursor;
      }
      const paid = async (): Promise<unknown[]> => (await query("SELECT booking FROM paid ORDER BY booking")).map(({ booking }) => booking);
      await until("all bookings", async () => (await paid()).length === expected.length);
      expect(await paid(), survivor.lines.join("\n")).to.have.members(expected);
    });
  });
}
