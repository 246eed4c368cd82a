import { expect } from "chai";
import pg from "pg";
import type { BlockData } from "../../types/events.js";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { onlyWhere } from "../fixtures/installed.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { hasPostgres, startPostgres } from "../fixtures/postgres.js";
import { run, type StartedProcess } from "../fixtures/process.js";
import { programOf } from "../fixtures/programs.js";
import { until } from "../fixtures/until.js";
import { randomFrom } from "../follow/schedule.js";
import { freePort } from "../free-port.js";

const kills = count(2, 200);

describe("a receiver with an inbox in PostgreSQL", function () {
  if (isLong) this.timeout(0);
  onlyWhere(hasPostgres, "PostgreSQL is not installed: no receiver is killed");

  it(`has each booking of the chain once, though it is killed ${kills} times while blocks come and go`, async () => {
    const random = randomFrom(seedOr(61));
    const { network, blocks } = loadChain("core3-custom-c");
    const { port, user, stop } = await startPostgres();
    atEndOfTest(stop);
    const pool = new pg.Pool({ host: "127.0.0.1", port, user, database: "postgres" });
    atEndOfTest(() => pool.end());
    await pool.query("CREATE TABLE paid (booking text PRIMARY KEY, webhook_id text)");

    const schedule = Array.from({ length: 2_000 }, () => 20);
    const node = await startMovingNode(network, blocks[0] as BlockData, { webhooks: { ...webhookOptions, schedule }, rateLimit: false });
    const headers = { authorization: token, "content-type": "application/json" };
    const receiverPort = await freePort();
    const body = { events: ["booking.*"], from: "genesis", order: "strict", target: `http://127.0.0.1:${receiverPort}` };
    const made = await node.get("/webhooks", { method: "POST", headers, body: JSON.stringify(body) });
    const { secret } = (made.json as { data: { secret: string } }).data;
    const program = programOf(new URL("receiver-process.ts", import.meta.url));
    const start = async (): Promise<StartedProcess> => {
      const started = run(process.execPath, [program, String(receiverPort), secret, String(port), user]);
      await started.line(/^listens$/);
      return started;
    };
    const handled = async (): Promise<number> =>
      (await pool.query<{ count: string }>("SELECT count(*) FROM portico_inbox").catch(() => undefined))?.rows.map((row) => Number(row.count))[0] ?? 0;

    let receiver = await start();
    const nextBlock = (): BlockData => blocks[node.height()] as BlockData;
    for (let kill = 0; kill < kills; kill++) {
      const enough = (await handled()) + 1 + Math.floor(random() * 20);
      for (let added = 0; added < 3; added++) await node.apply(nextBlock());
      if (random() < 0.5) await node.revert();
      // Blocks of genesis alone have more bookings than all kills need.
      await until(`${enough} bookings`, async () => (await handled()) >= enough);
      receiver.kill("SIGKILL");
      await receiver.ended;
      receiver = await start();
    }
    const expected: string[] = [];
    for (let cursor = "genesis"; cursor !== ""; ) {
      const { json } = await node.get(`/events/feed?after=${cursor}&event=booking.applied&limit=1000`);
      const { data, meta } = json as { data: { data: { address: string; id: string } }[]; meta: { cursor: string } };
      expected.push(...data.map(({ data: { address, id } }) => `${address} ${id}`));
      cursor = data.length === 0 ? "" : meta.cursor;
    }
    await until("all bookings", async () => (await pool.query("SELECT 1 FROM paid")).rowCount === expected.length);
    const { rows } = await pool.query<{ booking: string }>("SELECT booking FROM paid");
    expect(rows.map(({ booking }) => booking).sort()).to.deep.equal(expected.sort());
  });
});
