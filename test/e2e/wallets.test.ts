import { expect } from "chai";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf, type WalletRow } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { lockKindOf, transactionKindOf, walletKind } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound, expectRefused, orderRule, pagingRefusals } from "./refusals.js";

const mostBy = <T>(rows: T[], weight: (row: T) => number): T =>
  rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));

for (const name of chainNames) {
  describe(`wallets of ${name}, second generation`, () => {
    const figures = figuresOf(name);
    const { walletRows, transactionRows, lockRows } = figures;
    const transactionKind = transactionKindOf(figures);
    const received = (address: string) => transactionRows.filter(({ recipients }) => recipients.includes(address));
    const sent = (address: string) => transactionRows.filter(({ sender }) => sender === address);
    const owned = (address: string) => transactionRows.filter(({ sender, recipients }) => sender === address || recipients.includes(address));
    const busiest: WalletRow = mostBy(walletRows, ({ address }) => received(address).length * sent(address).length);
    const voter: WalletRow = mostBy(walletRows, ({ address }) => sent(address).filter(({ type }) => type === 3).length);
    const locker: WalletRow = mostBy(walletRows, ({ locks }) => Object.keys(locks ?? {}).length);

    let served: Interface;
    before(async () => {
      served = await serveChain(name);
    });
    after(() => served.stop());
    const interface_ = () => served;
    const narrowed = { pairs: name === "core3-custom-c" };

    describeList("GET /wallets, POST /wallets/search", () => ({ path: "/wallets", search: "/wallets/search", rows: walletRows }), walletKind, interface_);
    describeList("GET /wallets/top", () => ({ path: "/wallets/top", rows: walletRows }), walletKind, interface_, narrowed);
    describeList(
      "GET /wallets/{id}/transactions",
      () => ({ path: `/wallets/${busiest.address}/transactions`, rows: owned(busiest.address), without: ["addresses"] }),
      transactionKind,
      interface_,
      narrowed,
    );
    describeList(
      "GET /wallets/{id}/transactions/received",
      () => ({ path: `/wallets/${String(busiest.publicKey)}/transactions/received`, rows: received(busiest.address), without: ["addresses", "recipientId"] }),
      transactionKind,
      interface_,
      narrowed,
    );
    describeList(
      "GET /wallets/{id}/transactions/sent",
      () => ({ path: `/wallets/${busiest.address}/transactions/sent`, rows: sent(busiest.address), without: ["addresses"] }),
      transactionKind,
      interface_,
      narrowed,
    );
    describeList(
      "GET /wallets/{id}/locks",
      () => ({ path: `/wallets/${locker.address}/locks`, rows: lockRows.filter(({ sender }) => sender === locker || sender.address === locker.address) }),
      lockKindOf(figures),
      interface_,
      narrowed,
    );

    describe("GET /wallets/{id}/votes", () => {
      const votes = sent(voter.address).filter(({ type, typeGroup }) => type === 3 && typeGroup === 1);
      const path = `/wallets/${voter.address}/votes`;
      describeList("its list", () => ({ path, rows: votes, without: ["type", "typeGroup"] }), transactionKind, interface_, narrowed);
      it("is tested on a wallet that voted more than once", () => {
        expect(votes.length).to.be.greaterThan(1);
      });
      it("has no votes of another sender", async () => {
        expect(dataOf(await served.get(`${path}?senderId=${voter.address}&limit=1`))).to.have.length(1);
        expect(dataOf(await served.get(`${path}?senderId=${busiest.address === voter.address ? locker.address : busiest.address}`))).to.deep.equal([]);
      });
    });

    describe("GET /wallets/{id}", () => {
      it("shows every wallet by its address", async () => {
        for (const row of walletRows) {
          const { status, body } = await served.get(`/wallets/${row.address}`);
          expect(status).to.equal(200);
          expect(body).to.deep.equal(parsed({ data: walletKind.present(row) }));
        }
      });

      it("shows a wallet the same by public key and by username", async () => {
        const row = mostBy(walletRows, ({ username, publicKey }) => (username !== null && publicKey !== null ? 1 : 0));
        for (const id of [row.address, row.publicKey, row.publicKey?.toUpperCase(), row.username]) {
          expect((await served.get(`/wallets/${encodeURIComponent(String(id))}`)).body).to.deep.equal(parsed({ data: walletKind.present(row) }));
        }
      });

      it("refuses a query", async () => {
        expectRefused(await served.get(`/wallets/${busiest.address}?page=1`), "query", "page", "is not allowed");
      });
    });

    describe("an unknown wallet", () => {
      const suffixes = ["", "/transactions", "/transactions/received", "/transactions/sent", "/votes", "/locks"];
      for (const id of ["AThatNobodyHasEverSeenAddress34xxx", "02".padEnd(66, "a"), "no such wallet", "%F0%9F%A6%89", "0"]) {
        it(`is not found by ${id}`, async () => {
          for (const suffix of suffixes) {
            expectNotFound(await served.get(`/wallets/${id}${suffix}`), "Wallet not found");
          }
        });
      }
    });

    describe("what the contract declares equal", () => {
      const { address } = busiest;

      it("is received transactions and the search with recipientId", async () => {
        expect(dataOf(await served.get(`/wallets/${address}/transactions/received`))).to.deep.equal(
          dataOf(await served.post("/transactions/search", { recipientId: address })),
        );
      });
      it("is sent transactions and the search with senderId", async () => {
        expect(dataOf(await served.get(`/wallets/${address}/transactions/sent`))).to.deep.equal(dataOf(await served.post("/transactions/search", { senderId: address })));
      });
      it("is all transactions and the search with ownerId", async () => {
        expect(dataOf(await served.get(`/wallets/${address}/transactions`))).to.deep.equal(dataOf(await served.post("/transactions/search", { ownerId: address })));
      });
    });

    describe("what is refused", () => {
      const order = orderRule(...Object.keys(walletKind.orders));
      const queries: [query: string, key: string, rule: string][] = [
        ...pagingRefusals,
        ["orderBy=foo", "orderBy", order],
        ["orderBy=balance:up", "orderBy", order],
        ["balance.from=x", "balance.from", "must be a whole number"],
        ["balance.form=1", "balance.form", "is not allowed"],
        ["balance=much", "balance", "must be a whole number"],
        ["producedBlocks=1.5", "producedBlocks", "must be integer"],
        ["producedBlocks.to=1.5", "producedBlocks.to", "must be integer"],
        ["publicKey=abc", "publicKey", "must be 66 hexadecimal digits"],
        ["vote=%2B", "vote", "must be 66 hexadecimal digits"],
      ];
      for (const [query, key, rule] of queries) {
        it(`includes a query of ${query}`, async () => {
          expectRefused(await served.get(`/wallets?${query}`), "query", key, rule);
        });
      }

      const bodies: [body: unknown, key: string, rule: string][] = [
        [{ foo: 1 }, "foo", "is not allowed"],
        [{ addresses: [] }, "addresses", "must NOT have fewer than 1 items"],
        [{ addresses: Array.from({ length: 51 }, () => "A") }, "addresses", "must NOT have more than 50 items"],
        [{ balance: { from: 1.5 } }, "balance.from", "must be a whole number"],
        [{ balance: 5 }, "balance", "must be object"],
        [{ balance: { form: 5 } }, "balance.form", "is not allowed"],
        [{ username: 5 }, "username", "must be string"],
        [[], "value", "must be object"],
      ];
      for (const [given, key, rule] of bodies) {
        it(`includes a body of ${JSON.stringify(given).slice(0, 40)}`, async () => {
          expectRefused(await served.post("/wallets/search", given), "payload", key, rule);
        });
      }
    });

    it("accept a search without a body, or with an empty one, as the whole list", async () => {
      const all = dataOf(await served.get("/wallets"));
      for (const given of [undefined, {}]) expect(dataOf(await served.post("/wallets/search", given))).to.deep.equal(all);
    });

    it("prefer the order in a search's body to the one in its query", async () => {
      const lowest = sorted(walletRows, "address:asc", walletKind).slice(0, 3);
      const data = dataOf(await served.post("/wallets/search?orderBy=address:desc&limit=3", { orderBy: "address:asc" }));
      expect(data).to.deep.equal(parsed(lowest.map(walletKind.present)));
    });
  });
}
