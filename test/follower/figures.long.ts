/** Figures of following: blocks a second into SQLite and PostgreSQL while catching up, by a follower and by bare transactions. `--count`: blocks. */
import { expect } from "chai";
import { createClient, type WholeBlock } from "../../src/client/index.js";
import { type PostgresClient, postgresStore, runFollower, sqliteStore, type SqliteHandle } from "../../src/follower/index.js";
import { atEndOfTest } from "../at-end.js";
import { openSqliteFile, poolOf } from "../fixtures/databases.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { onlyWhere } from "../fixtures/installed.js";
import { lastingDatabases } from "../fixtures/lasting-databases.js";
import { count } from "../fixtures/long.js";
import { runProgram } from "../fixtures/process.js";

const blocks = count(50_000, 50_000);
const addresses = 100_000;
const tables = [
  "CREATE TABLE payments (id TEXT PRIMARY KEY, height INTEGER NOT NULL, address TEXT NOT NULL, amount BIGINT NOT NULL)",
  "CREATE TABLE balances (address TEXT PRIMARY KEY, amount BIGINT NOT NULL)",
];
const payment = "INSERT INTO payments VALUES ($1, $2, $3, $4)";
const balance = "INSERT INTO balances VALUES ($1, $2) ON CONFLICT (address) DO UPDATE SET amount = balances.amount + excluded.amount";

/** Writes the rows of blocks, and commits. */
interface Writer {
  /** By a follower, until it is at the tip. */
  follow(url: string): Promise<void>;
  /** By transactions of 200 blocks each, as many as a follower's. */
  bare(chain: readonly WholeBlock[]): Promise<void>;
}

const inSqlite = (file: string): Writer => {
  const db = openSqliteFile(file);
  atEndOfTest(() => db.close());
  const statements = (): ((block: WholeBlock) => void) => {
    const [pay, add] = [db.prepare(payment.replaceAll(/\$\d/g, "?")), db.prepare(balance.replaceAll(/\$\d/g, "?"))];
    return ({ height, transactions }) => {
      for (const { id, recipientId = "", amount } of transactions) {
        pay.run(id, height, recipientId, Number(amount));
        add.run(recipientId, Number(amount));
      }
    };
  };
  return {
    follow: (url) => {
      const write = statements();
      return toTip(url, { store: sqliteStore<SqliteHandle>(db, { tables: ["payments", "balances"] }), apply: (_, block) => write(block) });
    },
    bare: (chain) => {
      const write = statements();
      for (let from = 0; from < chain.length; from += 200) {
        db.exec("BEGIN IMMEDIATE");
        chain.slice(from, from + 200).forEach(write);
        db.exec("COMMIT");
      }
      return Promise.resolve();
    },
  };
};

const inPostgres = (place: readonly string[]): Writer => {
  const pool = poolOf(place);
  atEndOfTest(() => pool.end());
  const write = async (client: PostgresClient, { height, transactions }: WholeBlock): Promise<void> => {
    for (const { id, recipientId = "", amount } of transactions) {
      await client.query(payment, [id, height, recipientId, amount]);
      await client.query(balance, [recipientId, amount]);
    }
  };
  return {
    follow: (url) => toTip(url, { store: postgresStore(pool, { tables: ["payments", "balances"] }), apply: write }),
    bare: async (chain) => {
      const client = await pool.connect();
      for (let from = 0; from < chain.length; from += 200) {
        await client.query("BEGIN");
        for (const block of chain.slice(from, from + 200)) await write(client, block);
        await client.query("COMMIT");
      }
      client.release();
    },
  };
};

type Following<Tx> = Pick<Parameters<typeof runFollower<Tx>>[0], "store" | "apply">;

const toTip = async <Tx>(url: string, following: Following<Tx>): Promise<void> => {
  const stopping = new AbortController();
  await runFollower<Tx>({ client: createClient(url), ...following, signal: stopping.signal, onProgress: ({ height }) => void (height === blocks && stopping.abort()) });
};

const perSecond = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return Math.round((blocks * 1000) / (performance.now() - began));
};

for (const [name, { isInstalled, otherwise, start }] of Object.entries(lastingDatabases)) {
  describe(`a follower with ${name} that catches up`, () => {
    onlyWhere(isInstalled, otherwise);

    it("takes at most a fifth longer than to read the blocks first, and then to write them in bare transactions", async () => {
      const url = /http:\S+/.exec(await runProgram("test/follower/chain-process.ts", [String(blocks), String(addresses), temporaryFolder()]).line(/^serves/))?.[0] ?? "";
      const open = async (): Promise<Writer> => {
        const { place, query } = await start();
        for (const sql of tables) await query(sql);
        return name === "SQLite" ? inSqlite(place[1] ?? "") : inPostgres(place);
      };
      const chain: WholeBlock[] = [];
      const client = await perSecond(async () => {
        for await (const { block } of createClient(url).changes({ after: "genesis" })) if (chain.push(block) === blocks) break;
      });
      const [bareWriter, follower] = [await open(), await open()];
      const bare = await perSecond(() => bareWriter.bare(chain));
      const followed = await perSecond(() => follower.follow(url));
      // One after the other, in one thread.
      const both = 1 / (1 / client + 1 / bare);
      console.log({ "the client alone": client, "bare transactions": bare, "one after the other": Math.round(both), "the follower": followed });
      expect(followed).to.be.above(both / 1.2);
    });
  });
}
