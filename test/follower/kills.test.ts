import { expect } from "chai";
import { createClient } from "../../src/client/index.js";
import { runFollower } from "../../src/follower/index.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { onlyWhere } from "../fixtures/installed.js";
import { lastingDatabases } from "../fixtures/lasting-databases.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { run, runProgram, type StartedProcess } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";
import { blockData, genesis, network, randomFrom } from "../follow/schedule.js";
import { ForkingChain } from "../live/forking-host.js";
import { createMoves } from "./moves.js";
import { applyBlock, created, rowsOf } from "./rows.js";
import { startSqlite } from "./stores.js";

const kills = count(3, 500);
/** Most kills come within the transactions of a few blocks; some while the store is opened. */
const statements = 250;

/** A program that reads a file until it may not: nobody begins to read while another process waits to write. */
const untilLocked = `
const db = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
const read = () => { db.exec("SELECT * FROM payments"); setTimeout(read, 5); };
read();`;

for (const [name, { isInstalled, otherwise, start }] of Object.entries(lastingDatabases)) {
  describe(`a follower with ${name} that is a process`, function () {
    if (isLong) this.timeout(0);
    onlyWhere(isInstalled, otherwise);

    /** A node with a chain that forks, a database with the tables, and what starts followers between them. */
    const startAll = async () => {
      const chain = new ForkingChain("killed", seedOr(17));
      const node = await startMovingNode(network, genesis, { rateLimit: false });
      const url = `http://127.0.0.1:${node.port}`;
      const { place, query } = await start();
      for (const sql of created) await query(sql);
      return {
        place,
        query,
        follow: (statement: number): StartedProcess => runProgram("test/follower/follower-process.ts", [url, String(statement), ...place]),
        move: createMoves(chain, node),
        isAtTip: async (): Promise<boolean> => {
          const [row] = await query("SELECT cursor FROM portico_follower").catch(() => []);
          return row?.cursor === `${chain.blocks.length}-${chain.blocks.at(-1)?.id}`;
        },
        /** Ends the chain by a block that is no fork's, and gives the rows of a follower that was never killed. */
        end: async (): Promise<unknown> => {
          const last = { applied: blockData("last of all", chain.blocks.length + 1, chain.blocks.at(-1)?.id ?? null, []) };
          chain.take(last);
          await node.apply(last.applied);
          const clean = await startSqlite();
          const stopping = new AbortController();
          const onProgress = ({ height }: { height: number }): void => void (height === chain.blocks.length && stopping.abort());
          await runFollower({ client: createClient(url), store: clean.store(true), apply: applyBlock, signal: stopping.signal, onProgress });
          return rowsOf(clean.query);
        },
      };
    };

    it(`has the rows of one that was not killed, after ${kills} kills at any of its statements while the chain forks`, async () => {
      const random = randomFrom(seedOr(17));
      const { query, follow, move, isAtTip, end } = await startAll();
      for (let kill = 0; kill < kills; kill++) {
        const follower = follow(1 + Math.floor(random() * statements));
        let code: number | null | undefined;
        const ended = follower.ended.then((with_) => (code = with_));
        while (code === undefined) {
          await move(1 + Math.floor(random() * 10));
          await until("the tip, or the kill", async () => code !== undefined || (await isAtTip()));
        }
        expect(await ended, follower.lines.join("\n")).to.equal(null);
      }
      const survivor = follow(0);
      const rows = await end();
      await until("the tip", () => isAtTip());
      expect(await rowsOf(query), survivor.lines.join("\n")).to.deep.equal(rows);
    });

    if (name === "SQLite") it("waits for somebody who reads its tables", async () => {
      const { place, query, follow, move, isAtTip, end } = await startAll();
      const follower = follow(0);
      await move(3);
      await until("the tip", () => isAtTip());
      await query("BEGIN");
      await query("SELECT * FROM payments");
      const rows = end();
      await run(process.execPath, ["-e", untilLocked, place[1] ?? ""]).line(/database is locked/);
      await query("COMMIT");
      await until("the tip", () => isAtTip());
      expect(await rowsOf(query), follower.lines.join("\n")).to.deep.equal(await rows);
    });

    it("leaves the database to the one that wrote first where two follow into it", async () => {
      const { query, follow, move, isAtTip, end } = await startAll();
      const followers = [follow(0), follow(0)];
      let first: number | undefined;
      const ended = followers.map((follower, place) => follower.ended.then(() => void (first ??= place)));
      while (first === undefined) {
        await move(2);
        await until("the tip, or the end of one", async () => first !== undefined || (await isAtTip()));
      }
      expect(followers[first]?.lines.join("\n")).to.include("FOLLOWER_CONFLICT");
      const rows = await end();
      await until("the tip", () => isAtTip());
      expect(await rowsOf(query)).to.deep.equal(rows);
      followers[1 - first]?.kill("SIGKILL");
      await Promise.all(ended);
    });
  });
}
