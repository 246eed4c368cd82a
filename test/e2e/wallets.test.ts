import { expect } from "chai";
import { isLong, spread } from "../fixtures/long.js";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf, type WalletRow } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { lockKindOf, transactionKindOf, walletKind } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound } from "./refusals.js";

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
    before(async () => (served = await serveChain(name)));
    const interface_ = () => served;
    const main = { pairs: isLong || name === "core3-custom-c" };
    const narrowed = { pairs: isLong && name === "core3-custom-c" };

    describeList("GET /wallets, POST /wallets/search", () => ({ path: "/wallets", search: "/wallets/search", rows: walletRows }), walletKind, interface_, main);
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
        for (const row of spread(walletRows, 60)) {
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

    it("prefer the order in a search's body to the one in its query", async () => {
      const lowest = sorted(walletRows, "address:asc", walletKind).slice(0, 3);
      const data = dataOf(await served.post("/wallets/search?orderBy=address:desc&limit=3", { orderBy: "address:asc" }));
      expect(data).to.deep.equal(parsed(lowest.map(walletKind.present)));
    });
  });
}
