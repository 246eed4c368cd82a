import { expect } from "chai";
import pg from "pg";
import { createClient } from "../../src/client/index.js";
import { runFollower } from "../../src/follower/index.js";
import { atEndOfTest } from "../at-end.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { onlyWhere } from "../fixtures/installed.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { hasPostgres, startPostgres } from "../fixtures/postgres.js";
import { run, type StartedProcess } from "../fixtures/process.js";
import { programOf } from "../fixtures/programs.js";
import { until } from "../fixtures/until.js";
import { activeDelegates, blockData, genesis, network, randomFrom } from "../follow/schedule.js";
import { ForkingChain } from "../live/forking-host.js";
import { applyBlock, created, openPostgres, rowsOf } from "./rows.js";
import { startInPostgres } from "./stores.js";

const kills = count(2, 500);

describe("a follower with PostgreSQL that is killed", function () {
  if (isLong) this.timeout(0);
  onlyWhere(hasPostgres, "PostgreSQL is not installed: no follower is killed");

  it(`${kills} times while the chain forks has the rows of one that was not`, async () => {
    const random = randomFrom(seedOr(17));
    const chain = new ForkingChain("killed", seedOr(17));
    const node = await startMovingNode(network, genesis, { rateLimit: false });
    const url = `http://127.0.0.1:${node.port}`;
    const { port, user, stop } = await startPostgres();
    atEndOfTest(stop);
    const pool = new pg.Pool({ host: "127.0.0.1", port, user, database: "postgres" });
    atEndOfTest(() => pool.end());
    await pool.query(created);
    const program = programOf(new URL("follower-process.ts", import.meta.url));
    const start = async (): Promise<StartedProcess> => {
      const started = run(process.execPath, [program, url, String(port), user]);
      await started.line(/^runs$/);
      return started;
    };
    const cursor = async (): Promise<string | undefined> =>
      (await pool.query<{ cursor: string }>("SELECT cursor FROM portico_follower").catch(() => undefined))?.rows[0]?.cursor;
    const tip = (): string => `${chain.blocks.length}-${chain.blocks.at(-1)?.id}`;

    let highest = 1;
    const move = async (steps: number): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        const next = chain.next();
        if ("reverted" in next && next.reverted.height <= highest - 2 * activeDelegates) continue;
        chain.take(next);
        highest = Math.max(highest, chain.blocks.length);
        if ("applied" in next) await node.apply(next.applied);
        else await node.revert();
      }
    };
    let follower = await start();
    for (let kill = 0; kill < kills; kill++) {
      const before = await cursor();
      await move(1 + Math.floor(random() * 10));
      // Killed somewhere on its way, or at its end.
      if (before !== tip()) await until("a move of the cursor", async () => (await cursor()) !== before);
      follower.kill("SIGKILL");
      await follower.ended;
      follower = await start();
    }
    const last = { applied: blockData("last of all", chain.blocks.length + 1, chain.blocks.at(-1)?.id ?? null, []) };
    chain.take(last);
    await node.apply(last.applied);
    await until("the tip", async () => (await cursor()) === tip());
    const clean = await startInPostgres();
    const stopping = new AbortController();
    const onProgress = ({ height }: { height: number }): void => void (height === chain.blocks.length && stopping.abort());
    await runFollower({ client: createClient(url), store: clean.store(true), apply: applyBlock, signal: stopping.signal, onProgress });
    expect(await rowsOf(openPostgres(pool).query)).to.deep.equal(await rowsOf(clean.query));
  });
});
