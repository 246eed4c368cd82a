import { expect } from "chai";
import { chainNames, storedChain } from "../../e2e/chains.js";
import { figuresOf } from "../../e2e/figures.js";
import { type Served, serveFirst } from "../../e2e/first-generation.js";
import { parsed } from "../../e2e/interface.js";
import { roundsOfCore } from "../../chain/core-drift.js";
import type { DelegateFigures } from "../../data/read.js";
import { createMemoryAdapter } from "../../memory-adapter/adapter.js";
import type { RoundDelegate } from "../../../types/chain.js";
import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { count, spread } from "../../fixtures/long.js";

interface SecondDelegate {
  username: string;
  rank?: number;
}

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** An adapter with the real node's own rounds. */
const withRounds = (adapter: ChainAdapter, rounds: ReadonlyMap<number, RoundDelegate[]>): ChainAdapter => ({
  ...adapter,
  snapshot: async () => {
    const snapshot = await adapter.snapshot();
    if (snapshot === undefined) return undefined;
    return Object.assign(Object.create(snapshot) as typeof snapshot, { round: (round: number) => rounds.get(round) });
  },
});

for (const name of chainNames) {
  describe(`delegates of ${name}, first generation`, () => {
    const { delegateRows, walletRows, meta, network, blocks } = figuresOf(name);
    const votes = new Map(walletRows.map(({ username, vote }) => [username, vote]));
    const ranks = new Map<string, number | undefined>();
    const missed = new Map<string, number>();
    let served: Served;

    before(async () => {
      served = await serveFirst(name);
      // Where the real node reports no ranks, they are taken from the second generation, which is checked against the chain's rules elsewhere.
      for (const page of [1, 2]) {
        for (const { username, rank } of (await served.second(`/delegates?page=${page}`)) as SecondDelegate[]) ranks.set(username, rank);
      }
      // Active delegates who forged none of a finished round's 51 blocks missed that round.
      for (let round = 1; round * 51 <= blocks.length; round++) {
        const generators = blocks.slice((round - 1) * 51, round * 51).map(({ generatorPublicKey }) => generatorPublicKey);
        for (const { publicKey } of (await served.second(`/rounds/${round}/delegates`)) as { publicKey: string }[]) {
          if (!generators.includes(publicKey)) missed.set(publicKey, (missed.get(publicKey) ?? 0) + 1);
        }
      }
      for (const { username, rank } of delegateRows) ranks.set(username, rank ?? undefined);
    });
    after(() => served.stop());

    /** Computed as in the predecessor. */
    const productivity = (produced: number, missing: number): number =>
      produced + missing === 0 ? 0 : Number((100 - missing / ((produced + missing) / 100)).toFixed(2));
    const common = (row: DelegateFigures) => ({
      username: row.username,
      address: row.address,
      publicKey: row.publicKey,
      producedblocks: row.producedBlocks,
      missedblocks: missed.get(row.publicKey) ?? 0,
      productivity: productivity(row.producedBlocks, missed.get(row.publicKey) ?? 0),
      approval: row.approval,
      rate: ranks.get(row.username),
      forged: BigInt(row.forgedTotal),
    });
    const listed = (row: DelegateFigures) => parsed({ ...common(row), vote: votes.get(row.username) ?? null });
    const found = (row: DelegateFigures) => parsed({ ...common(row), vote: row.voteBalance });
    /** By rank; those without one last, by username. */
    const byRank = (): DelegateFigures[] =>
      [...delegateRows].sort(
        (a, b) => compare(ranks.get(a.username) ?? Infinity, ranks.get(b.username) ?? Infinity) || compare(a.username, b.username),
      );
    const ranked = (rank: number): DelegateFigures => byRank()[rank - 1] as DelegateFigures;

    it("have missed rounds, but never all of them", () => {
      const counts = [...missed.values()];
      expect(counts.length).to.be.greaterThan(0);
      expect(Math.max(...counts)).to.be.lessThan(Math.floor(blocks.length / 51));
    });

    describe("GET /delegates", () => {
      it("lists 51 by rank, and gives the total", async () => {
        const { delegates, totalCount } = await served.get("/delegates");
        expect(delegates).to.deep.equal(byRank().slice(0, 51).map(listed));
        expect(totalCount).to.equal(delegateRows.length);
      });

      it("returns each delegate once across its offsets", async () => {
        const seen: unknown[] = [];
        for (let offset = 0; offset < delegateRows.length; offset += 20) {
          const { delegates, totalCount } = await served.get(`/delegates?limit=20&offset=${offset}`);
          expect(totalCount).to.equal(delegateRows.length);
          seen.push(...(delegates as unknown[]));
        }
        expect(seen).to.deep.equal(byRank().map(listed));
        expect((await served.get(`/delegates?offset=${delegateRows.length}`)).delegates).to.deep.equal([]);
      });

      const columns: [names: string[], value: (row: DelegateFigures) => bigint | number | string][] = [
        [["username"], ({ username }) => username],
        [["address"], ({ address }) => address],
        [["publicKey", "public_key"], ({ publicKey }) => publicKey],
        [["vote", "votes", "voteBalance", "vote_balance"], ({ voteBalance }) => BigInt(voteBalance)],
        [["approval"], ({ approval }) => approval],
        [["producedBlocks", "producedblocks", "produced_blocks"], ({ producedBlocks }) => producedBlocks],
        [["forged"], ({ forgedTotal }) => BigInt(forgedTotal)],
      ];
      for (const [names, value] of columns) {
        it(`orders by ${names.join(", ")}`, async () => {
          const descending = [...delegateRows].sort((a, b) => compare(value(b), value(a)) || compare(a.username, b.username));
          for (const column of names) {
            expect((await served.get(`/delegates?orderBy=${column}:desc`)).delegates).to.deep.equal(descending.slice(0, 51).map(listed));
            expect((await served.get(`/delegates?orderBy=${column}:asc`)).delegates).to.deep.equal(descending.toReversed().slice(0, 51).map(listed));
          }
        });
      }

      it("orders by rank under either name, and ignores a number as the order", async () => {
        const first = byRank().slice(0, 3).map(listed);
        for (const order of ["rank", "rate:asc", "rank:ASC", "1", "0"]) {
          expect((await served.get(`/delegates?limit=3&orderBy=${order}`)).delegates, order).to.deep.equal(first);
        }
        const last = byRank()
          .filter(({ username }) => ranks.get(username) !== undefined)
          .slice(-3)
          .reverse();
        expect((await served.get("/delegates?limit=3&orderBy=rate:desc")).delegates).to.deep.equal(last.map(listed));
      });

      it("ignores unknown parameters", async () => {
        const { delegates } = await served.get("/delegates?limit=2&foo=1&_=1542&username=nobody");
        expect(delegates).to.deep.equal(byRank().slice(0, 2).map(listed));
      });

      const refusals: [query: string, error: string | RegExp][] = [
        ["limit=0", '"limit" must be >= 1'],
        ["limit=52", '"limit" must be <= 51'],
        ["limit=ten", '"limit" must be integer'],
        ["limit=", '"limit" must be integer'],
        ["limit=1&limit=2", '"limit" must be given once'],
        ["offset=-1", '"offset" must be >= 0'],
        ["orderBy=colour", /^"orderBy" must be one of rank, rate, username, /],
        ["orderBy=rank:up", /^"orderBy" must be one of rank, rate, username, /],
        ["orderBy=%ff", '"orderBy" is not percent-encoded UTF-8'],
      ];
      for (const [query, error] of refusals) {
        it(`refuses ${query}`, async () => {
          const told = await served.refusal(`/delegates?${query}`);
          if (typeof error === "string") expect(told).to.equal(error);
          else expect(told).to.match(error);
        });
      }
    });

    describe("GET /delegates/get", () => {
      it("shows every delegate by username and by public key", async () => {
        for (const row of spread(delegateRows, 20)) {
          const expected = { delegate: listed(row), delegates: [listed(row)], success: true };
          expect(await served.get(`/delegates/get?username=${encodeURIComponent(row.username)}`)).to.deep.equal(expected);
          expect(await served.get(`/delegates/get?publicKey=${row.publicKey}`)).to.deep.equal(expected);
        }
      });

      it("prefers the public key to the username, and uses `id` if both are missing", async () => {
        const [first, second] = [ranked(1), ranked(2)];
        const expected = listed(first);
        const name = encodeURIComponent(second.username);
        expect((await served.get(`/delegates/get?username=${name}&publicKey=${first.publicKey}`)).delegate).to.deep.equal(expected);
        expect((await served.get(`/delegates/get?publicKey=&username=${encodeURIComponent(first.username)}`)).delegate).to.deep.equal(expected);
        for (const id of [first.username, first.address, first.publicKey]) {
          expect((await served.get(`/delegates/get?id=${encodeURIComponent(id)}`)).delegate, id).to.deep.equal(expected);
        }
        expect((await served.get(`/delegates/get?id=${name}&username=${encodeURIComponent(first.username)}`)).delegate).to.deep.equal(expected);
      });

      it("answers that an unknown delegate is not found", async () => {
        for (const query of ["", "?", "?username=", "?username=nobody", `?publicKey=${"02".padEnd(66, "a")}`, "?publicKey=abc", "?foo=bar"]) {
          expect(await served.refusal(`/delegates/get${query}`), query).to.equal("Delegate not found");
        }
        const { username } = ranked(1);
        expect(await served.refusal(`/delegates/get?publicKey=${"02".padEnd(66, "a")}&username=${username}`)).to.equal("Delegate not found");
      });
    });

    describe("GET /delegates/fee", () => {
      it("returns the fee of a registration and the top-ranked delegate", async () => {
        expect(await served.get("/delegates/fee")).to.deep.equal({ fee: 2_500_000_000, delegate: listed(ranked(1)), success: true });
      });

      it("returns the node's own delegate if the host names an existing one", async () => {
        const own = ranked(7);
        const named = await serveFirst(name, { node: { delegate: own.publicKey } });
        expect((await named.get("/delegates/fee")).delegate).to.deep.equal(listed(own));
        await named.stop();
        const mistaken = await serveFirst(name, { node: { delegate: "02".padEnd(66, "a") } });
        expect((await mistaken.get("/delegates/fee")).delegate).to.deep.equal(listed(ranked(1)));
        await mistaken.stop();
      });
    });

    it("are counted by GET /delegates/count", async () => {
      expect(await served.get("/delegates/count")).to.deep.equal({ count: meta.counts.delegates, success: true });
    });

    describe("GET /delegates/search", () => {
      it("finds any part of a username, by rank", async () => {
        for (const q of ["_1", "genesis", "s_4", "1", "51", ".", "no such name"]) {
          const expected = byRank().filter(({ username }) => username.includes(q)).slice(0, 100);
          expect((await served.get(`/delegates/search?q=${encodeURIComponent(q)}`)).delegates, q).to.deep.equal(expected.map(found));
        }
      });

      it("accepts a page and an order", async () => {
        const expected = byRank().filter(({ username }) => username.includes("genesis"));
        expect((await served.get("/delegates/search?q=genesis&limit=5&offset=3")).delegates).to.deep.equal(expected.slice(3, 8).map(found));
        const last = [...expected].sort((a, b) => compare(b.username, a.username)).slice(0, 2);
        expect((await served.get("/delegates/search?q=genesis&limit=2&orderBy=username:desc")).delegates).to.deep.equal(last.map(found));
      });

      for (const [query, error] of [
        ["", '"q" is required'],
        ["?q=", '"q" must NOT have fewer than 1 characters'],
        [`?q=${"x".repeat(21)}`, '"q" must NOT have more than 20 characters'],
        ["?q=a&limit=0", '"limit" must be >= 1'],
        ["?q=a&limit=101", '"limit" must be <= 100'],
        ["?q=a&offset=x", '"offset" must be integer'],
      ] as const) {
        it(`refuses ${query}`, async () => {
          expect(await served.refusal(`/delegates/search${query}`)).to.equal(error);
        });
      }
    });

    describe("GET /delegates/voters", () => {
      it("lists all voters of every delegate, richest first, with balances as numbers", async () => {
        for (const { publicKey } of spread(delegateRows, 25)) {
          const expected = walletRows
            .filter(({ vote }) => vote === publicKey)
            .sort((a, b) => compare(BigInt(b.balance), BigInt(a.balance)) || compare(a.address, b.address))
            .map(({ username, address, publicKey, balance }) => ({ username, address, publicKey, balance: BigInt(balance) }));
          expect(await served.get(`/delegates/voters?publicKey=${publicKey}`)).to.deep.equal(parsed({ accounts: expected, success: true }));
        }
      });

      it("accepts a key in capitals, and lists nobody for a key without votes", async () => {
        const { publicKey } = ranked(1);
        const expected = (await served.get(`/delegates/voters?publicKey=${publicKey}`)).accounts as unknown[];
        expect(expected).to.have.lengthOf.above(0);
        expect((await served.get(`/delegates/voters?publicKey=${publicKey.toUpperCase()}`)).accounts).to.deep.equal(expected);
        expect((await served.get(`/delegates/voters?publicKey=${"02".padEnd(66, "a")}`)).accounts).to.deep.equal([]);
      });

      it("refuses a missing or malformed key", async () => {
        expect(await served.refusal("/delegates/voters")).to.equal('"publicKey" is required');
        for (const key of ["", "abc", "02".padEnd(65, "a"), "zz".padEnd(66, "a"), ranked(1).username]) {
          expect(await served.refusal(`/delegates/voters?publicKey=${encodeURIComponent(key)}`), key).to.equal('"publicKey" must be 66 hexadecimal digits');
        }
      });
    });

    describe("GET /delegates/forging/getForgedByAccount", () => {
      const path = "/delegates/forging/getForgedByAccount";

      it("returns what every delegate forged, to the digit", async () => {
        for (const row of spread(delegateRows, 20)) {
          expect(await served.get(`${path}?generatorPublicKey=${row.publicKey}`)).to.deep.equal(
            parsed({ fees: BigInt(row.forgedFees), rewards: BigInt(row.forgedRewards), forged: BigInt(row.forgedTotal), success: true }),
          );
        }
      });

      it("returns zeros for a key that forged nothing", async () => {
        expect(await served.get(`${path}?generatorPublicKey=${"02".padEnd(66, "a")}`)).to.deep.equal({ fees: 0, rewards: 0, forged: 0, success: true });
      });

      it("refuses a missing or malformed key", async () => {
        expect(await served.refusal(path)).to.equal('"generatorPublicKey" is required');
        expect(await served.refusal(`${path}?generatorPublicKey=1`)).to.equal('"generatorPublicKey" must be 66 hexadecimal digits');
      });
    });

    describe("GET /delegates/getNextForgers", () => {
      const forgers = meta.nextForgers.map(({ publicKey }) => publicKey);
      let asNode: Served;
      before(async () => {
        asNode = await serveFirst(name, { chain: withRounds(await storedChain(name), await roundsOfCore({ network, blocks })) });
      });
      after(() => asNode.stop());

      it("returns the same ten as the real node", async () => {
        const expected = { currentBlock: meta.height, currentSlot: meta.lastSlot, delegates: forgers.slice(0, 10), success: true };
        expect(await asNode.get("/delegates/getNextForgers")).to.deep.equal(expected);
        // On the other chain the node's own ranks had drifted from the sums.
        if (name === "core3-testnet-a") expect(await served.get("/delegates/getNextForgers")).to.deep.equal(expected);
      });

      it("returns as many as requested, each active delegate at most once", async () => {
        expect(forgers).to.have.lengthOf(51);
        for (const limit of [1, 9, 51]) {
          expect((await asNode.get(`/delegates/getNextForgers?limit=${limit}`)).delegates).to.deep.equal(forgers.slice(0, limit));
        }
        expect((await asNode.get("/delegates/getNextForgers?limit=1000")).delegates).to.deep.equal(forgers);
        expect((await asNode.get("/delegates/getNextForgers?limit=0")).delegates).to.deep.equal(forgers.slice(0, 10));
      });

      it("predicts the forger of each block of the chain, including at the ends of rounds", async () => {
        const adapter = createMemoryAdapter(network);
        const growing = await serveFirst(name, { chain: withRounds(adapter, await roundsOfCore({ network, blocks })) });
        for (const [index, block] of blocks.slice(0, count(56, blocks.length)).entries()) {
          adapter.apply(block);
          const next = blocks[index + 1];
          if (next === undefined) break;
          const told = await growing.get("/delegates/getNextForgers?limit=51");
          expect(told.currentBlock).to.equal(block.height);
          const turn = Math.floor(next.timestamp / meta.blocktime) - Number(told.currentSlot) - 1;
          expect((told.delegates as string[])[turn % 51], `block ${next.height}`).to.equal(next.generatorPublicKey);
        }
        await growing.stop();
      });

      it("answers 501 if the adapter does not support rounds", async () => {
        const ignorant = await serveFirst(name, { chain: { ...(await storedChain(name)), supports: { rounds: false } } });
        const response = await ignorant.ask("/v1/delegates/getNextForgers");
        const told = [response.status, await response.json()];
        await ignorant.stop();
        expect(told).to.deep.equal([501, { success: false, statusCode: 501, error: "Not Implemented", message: "This node does not support that." }]);
      });

      it("refuses a limit that is not a number", async () => {
        expect(await served.refusal("/delegates/getNextForgers?limit=-1")).to.equal('"limit" must be >= 0');
        expect(await served.refusal("/delegates/getNextForgers?limit=all")).to.equal('"limit" must be integer');
      });
    });
  });
}
