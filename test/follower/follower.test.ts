import { expect } from "chai";
import { createClient } from "../../src/client/index.js";
import { FollowerError, type FollowerStore, memoryStore, runFollower, type RunFollowerOptions } from "../../src/follower/index.js";
import type { BlockData } from "../../types/events.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { onlyWhere } from "../fixtures/installed.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { hasPostgres } from "../fixtures/postgres.js";
import { until } from "../fixtures/until.js";
import { blockData, genesis, network, transferData } from "../follow/schedule.js";
import { ForkingChain } from "../live/forking-host.js";
import type { Query } from "../fixtures/databases.js";
import { createMoves } from "./moves.js";
import { applyBlock, rowsOf } from "./rows.js";
import { startInPostgres, startSqlite } from "./stores.js";

const startNode = () => startMovingNode(network, genesis, { rateLimit: false });
type Node = Awaited<ReturnType<typeof startNode>>;

const clientOf = (node: Pick<Node, "port">) => createClient(`http://127.0.0.1:${node.port}`);

/** A follower that runs until it is stopped. */
const start = <Tx>(options: Omit<RunFollowerOptions<Tx>, "signal">) => {
  const stopping = new AbortController();
  let height = 0;
  let failed: Error | undefined;
  const onProgress: RunFollowerOptions<Tx>["onProgress"] = (progress) => {
    height = progress.height;
    options.onProgress?.(progress);
  };
  const ended = runFollower({ ...options, signal: stopping.signal, onProgress }).catch((error: unknown) => void (failed = error as Error));
  return {
    at: (wanted: number) =>
      until(`block ${wanted}`, () => {
        if (failed !== undefined) throw failed;
        return height === wanted;
      }),
    ended,
    failed: () => failed,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
};

const apply = (query: Query, block: Parameters<typeof applyBlock>[1]) => applyBlock(query, block);

/** A few blocks on a chain. */
const grow = async (node: Node, name: string, blocks: number): Promise<BlockData[]> => {
  const made: BlockData[] = [];
  let { height, id } = await clientOf(node).blockchain.get().then(({ block }) => block);
  for (let index = 0; index < blocks; index++) {
    const next = blockData(`${name} ${index}`, ++height, id, [transferData(`${name} ${index}`, 1 + index * 3, index, index + 1), transferData(`${name} ${index} b`, 14, index, 0)]);
    made.push(next);
    ({ id } = next);
  }
  await node.apply(...made);
  return made;
};

const databases = { SQLite: startSqlite, PostgreSQL: startInPostgres };

for (const [name, open] of Object.entries(databases)) {
  describe(`a follower with ${name}`, function () {
    if (isLong) this.timeout(0);
    if (name === "PostgreSQL") onlyWhere(hasPostgres, "PostgreSQL is not installed: no follower is tested with it");

    it(`has the rows of a follower that has seen no fork, through random forks and restarts, undone by its log (${count(2, 1_000)} schedules)`, async () => {
      for (let schedule = 0; schedule < count(2, 1_000); schedule++) {
        const seed = seedOr(7) + schedule;
        const chain = new ForkingChain(`follower ${seed}`, seed);
        const node = await startNode();
        const move = createMoves(chain, node);
        const { store, query } = await open();
        let follower = start({ client: clientOf(node), store: store(true), apply });
        for (let turn = 0; turn < 6; turn++) {
          await move(12);
          if (turn % 2 === 0) continue;
          await follower.stop();
          follower = start({ client: clientOf(node), store: store(true), apply });
        }
        await node.apply(blockData(`last ${seed}`, node.height() + 1, chain.blocks.at(-1)?.id ?? null, []));
        await follower.at(node.height());
        await follower.stop();
        const clean = await open();
        const again = start({ client: clientOf(node), store: clean.store(true), apply });
        await again.at(node.height());
        await again.stop();
        expect(await rowsOf(query), `seed ${seed}`).to.deep.equal(await rowsOf(clean.query));
        expect([follower.failed(), again.failed()]).to.deep.equal([undefined, undefined]);
        await node.stop();
      }
    });

    it("undoes nothing of its own where it is handed revert", async () => {
      const node = await startNode();
      await grow(node, "trunk", 4);
      const { store, query } = await open();
      const reverted: number[] = [];
      const revert = async (tx: Query, { height, transactions }: { height: number; transactions: readonly { id: string }[] }): Promise<void> => {
        reverted.push(height);
        for (const { id } of transactions) await tx("DELETE FROM payments WHERE id = ?", id);
      };
      const onlyPayments = async (tx: Query, { height, transactions }: Parameters<typeof applyBlock>[1]): Promise<void> => {
        for (const { id, senderPublicKey, amount } of transactions) await tx("INSERT INTO payments VALUES (?, ?, ?, ?)", id, height, senderPublicKey, String(amount));
      };
      const follower = start({ client: clientOf(node), store: store(false), apply: onlyPayments, revert });
      await follower.at(5);
      await node.revert();
      await node.revert();
      await grow(node, "branch", 3);
      await follower.at(6);
      await follower.stop();
      expect(reverted).to.deep.equal([5, 4]);
      expect(await query("SELECT DISTINCT height FROM payments ORDER BY height")).to.deep.equal([1, 2, 3, 4, 5, 6].map((height) => ({ height })));
    });

    it("goes back by its log to a block that the node knows, where the node has lost the others", async () => {
      const node = await startNode();
      await grow(node, "lost", 5);
      const { store, query } = await open();
      const first = start({ client: clientOf(node), store: store(true), apply });
      await first.at(6);
      await first.stop();
      const other = await startNode();
      await grow(other, "kept", 7);
      const second = start({ client: clientOf(other), store: store(true), apply });
      await second.at(8);
      await second.stop();
      const clean = await open();
      const again = start({ client: clientOf(other), store: clean.store(true), apply });
      await again.at(8);
      await again.stop();
      expect(await rowsOf(query)).to.deep.equal(await rowsOf(clean.query));
    });

    it("writes the rows of a block with its cursor or not at all, and ends with what apply threw", async () => {
      const node = await startNode();
      await grow(node, "trunk", 5);
      const { store, query } = await open();
      let fails = true;
      const failing = async (tx: Query, block: Parameters<typeof applyBlock>[1]): Promise<void> => {
        await applyBlock(tx, block);
        if (block.height === 4 && fails) throw new Error("no space");
      };
      const follower = start({ client: clientOf(node), store: store(true), apply: failing });
      await follower.ended;
      expect(String(follower.failed())).to.equal("Error: no space");
      expect(await query("SELECT 1 AS one FROM payments WHERE height >= 4")).to.deep.equal([]);
      fails = false;
      const next = start({ client: clientOf(node), store: store(true), apply: failing });
      await next.at(6);
      await next.stop();
      expect((await query("SELECT DISTINCT height FROM payments")).length).to.equal(6);
    });

    it("writes nothing where another has moved the cursor", async () => {
      const node = await startNode();
      await grow(node, "trunk", 3);
      const { store } = await open();
      const first = start({ client: clientOf(node), store: store(true), apply });
      await first.at(4);
      await first.stop();
      const error: unknown = await store(true).write("3-another", () => Promise.resolve()).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(FollowerError).with.property("code", "FOLLOWER_CONFLICT");
    });

    it("begins where it is told, once; stays behind by confirmations; says how far it is", async () => {
      const node = await startNode();
      await grow(node, "trunk", 9);
      const { store, query } = await open();
      const seen: number[] = [];
      const options = {
        client: clientOf(node),
        from: 3,
        confirmations: 2,
        apply: (tx: Query, block: Parameters<typeof applyBlock>[1]) => {
          seen.push(block.height);
          return applyBlock(tx, block);
        },
      };
      const first = start({ ...options, store: store(true) });
      await first.at(8);
      await first.stop();
      await node.revert();
      await grow(node, "branch", 2);
      const second = start({ ...options, store: store(true) });
      await second.at(9);
      await second.stop();
      expect(seen).to.deep.equal([4, 5, 6, 7, 8, 9]);
      expect((await query("SELECT DISTINCT height FROM payments")).length).to.equal(6);
    });

    it("says that columns have changed while blocks can still be undone", async () => {
      const node = await startNode();
      await grow(node, "trunk", 3);
      const { store, query } = await open();
      const first = start({ client: clientOf(node), store: store(true), apply });
      await first.at(4);
      await first.stop();
      await query("ALTER TABLE balances ADD COLUMN more INTEGER");
      const second = start({ client: clientOf(node), store: store(true), apply });
      await second.ended;
      expect((second.failed() as FollowerError).code).to.equal("FOLLOWER_SCHEMA_CHANGED");
    });
  });
}

describe("a follower without a database", () => {
  it("keeps its place in memory, and needs revert", async () => {
    const node = await startNode();
    await grow(node, "trunk", 3);
    const blocks: string[] = [];
    const store: FollowerStore<undefined> = memoryStore();
    const run = { client: clientOf(node), store, apply: (_: undefined, { id }: { id: string }) => void blocks.push(id) };
    expect(String(await runFollower(run).catch(String))).to.include("needs `revert`");
    const follower = start({ ...run, revert: () => void blocks.pop() });
    await follower.at(4);
    await node.revert();
    await grow(node, "branch", 2);
    await follower.at(5);
    await follower.stop();
    expect(blocks).to.have.length(5);
  });
});
