import { expect } from "chai";
import { isLong, spread } from "../fixtures/long.js";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { transactionKindOf } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound } from "./refusals.js";

for (const name of chainNames) {
  describe(`transactions and votes of ${name}, second generation`, () => {
    const figures = figuresOf(name);
    const { transactionRows } = figures;
    const kind = transactionKindOf(figures);
    const votes = transactionRows.filter(({ type, typeGroup }) => type === 3 && typeGroup === 1);
    let served: Interface;
    before(async () => (served = await serveChain(name)));
    const interface_ = () => served;

    describeList(
      "GET /transactions, POST /transactions/search",
      () => ({ path: "/transactions", search: "/transactions/search", rows: transactionRows }),
      kind,
      interface_,
      { pairs: isLong || name === "core3-custom-c" },
    );
    describeList("GET /votes", () => ({ path: "/votes", rows: votes, without: ["type", "typeGroup"] }), kind, interface_, { pairs: isLong && name === "core3-custom-c" });

    it("are shown by id", async () => {
      for (const row of spread(transactionRows, 60)) expect(dataOf(await served.get(`/transactions/${row.id}`))).to.deep.equal(parsed(kind.present(row)));
    });

    it("have a recipient always: the sender where they name none, who is no recipient to filters", async () => {
      const kinds = new Set<string>();
      for (const { id, type, typeGroup, sender, recipients } of transactionRows.filter(({ recipientId }) => (recipientId ?? null) === null)) {
        const kind = `${typeGroup}/${type}`;
        if (kinds.has(kind)) continue;
        kinds.add(kind);
        expect(dataOf(await served.get(`/transactions/${id}`)), kind).to.have.property("recipient", sender);
        expect((await served.get(`/v1/transactions/get?id=${id}`)).body, kind).to.have.nested.property("transaction.recipientId", sender);
        const received = dataOf(await served.get(`/transactions?id=${id}&recipientId=${sender}`));
        expect(received, kind).to.have.length(recipients.includes(sender) ? 1 : 0);
      }
      expect([...kinds]).to.include.members(["1/1", "1/2", "1/3", "1/4", "1/5", "1/6", "1/7", ...(name === "core3-custom-c" ? ["1/9", "1/10", "2/6"] : [])]);
    });

    it("are found by ids in either case", async () => {
      const vote = votes[0];
      for (const path of ["transactions", "votes"]) {
        expect(dataOf(await served.get(`/${path}/${String(vote?.id).toUpperCase()}`))).to.deep.equal(dataOf(await served.get(`/${path}/${String(vote?.id)}`)));
      }
      expect((await served.get(`/v1/transactions/get?id=${String(vote?.id).toUpperCase()}`)).body).to.have.nested.property("transaction.id", vote?.id);
    });

    it("are shown as votes by id only if they are votes", async () => {
      for (const row of votes.filter((_, index) => index % 10 === 0)) expect(dataOf(await served.get(`/votes/${row.id}`))).to.deep.equal(parsed(kind.present(row)));
      const other = transactionRows.find(({ type }) => type !== 3);
      expectNotFound(await served.get(`/votes/${String(other?.id)}`), "Vote not found");
    });

    it("list votes like a transaction search with type 3", async () => {
      expect(dataOf(await served.get("/votes"))).to.deep.equal(dataOf(await served.post("/transactions/search", { type: 3 })));
    });

    it("are an empty list, not all, for an unknown sender or address", async () => {
      const nobody = "ANobodyHasEverSeenThisAddress34xxx";
      for (const member of ["senderId", "recipientId", "ownerId", "addresses"]) {
        const { body } = await served.get(`/transactions?${member}=${nobody}`);
        expect(body).to.have.deep.property("data", []);
        expect(body).to.have.nested.property("meta.totalCount", 0);
      }
      expect(dataOf(await served.get(`/transactions?senderPublicKey=${"02".padEnd(66, "c")}`))).to.deep.equal([]);
    });

    it("accept bounds beyond 2^53 exactly, as numbers and as text", async () => {
      for (const from of [9_007_199_254_740_993n, 9_007_199_254_740_994n, 9_007_199_254_740_996n]) {
        const larger = transactionRows.filter(({ amount }) => BigInt(String(amount)) >= from);
        const expected = parsed(sorted(larger, "amount:asc", kind).map(kind.present));
        for (const bound of [from, from.toString()]) {
          expect(dataOf(await served.post("/transactions/search?orderBy=amount:asc", { amount: { from: bound } }))).to.deep.equal(expected);
        }
        expect(dataOf(await served.get(`/transactions?orderBy=amount:asc&amount.from=${from}`))).to.deep.equal(expected);
      }
    });

    it("accept an exact value for a ranged field", async () => {
      const { block, fee } = transactionRows.at(-1) as (typeof transactionRows)[number];
      const same = transactionRows.filter((row) => row.time === block.timestamp && String(row.fee) === String(fee));
      const { body } = await served.get(`/transactions?timestamp=${block.timestamp}&fee=${String(fee)}`);
      expect(body).to.have.nested.property("meta.totalCount", same.length);
    });

    for (const id of ["f".repeat(64), "1", "no-transaction", "%E2%98%83"]) {
      it(`are not found by ${id}`, async () => {
        expectNotFound(await served.get(`/transactions/${id}`), "Transaction not found");
        expectNotFound(await served.get(`/votes/${id}`), "Vote not found");
      });
    }
  });
}
