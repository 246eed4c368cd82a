import { expect } from "chai";
import { chainNames } from "./chain-names.js";
import { figuresOf, type WalletRow } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { lockKindOf, transactionKindOf, walletKind } from "./kinds.js";
import { createListChecks, describeList } from "./naive-list.js";

const mostBy = <T>(rows: T[], weight: (row: T) => number): T =>
  rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));

for (const name of chainNames) {
  describe(`wallets of ${name}, second generation`, function () {
    this.timeout(60_000);
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

    describeList("GET /wallets, POST /wallets/search", () => ({ path: "/wallets", search: "/wallets/search", rows: walletRows }), walletKind, interface_);
    describeList("GET /wallets/top", () => ({ path: "/wallets/top", rows: walletRows }), walletKind, interface_);
    describeList(
      "GET /wallets/{id}/transactions",
      () => ({ path: `/wallets/${busiest.address}/transactions`, rows: owned(busiest.address), without: ["addresses"] }),
      transactionKind,
      interface_,
    );
    describeList(
      "GET /wallets/{id}/transactions/received",
      () => ({ path: `/wallets/${String(busiest.publicKey)}/transactions/received`, rows: received(busiest.address), without: ["addresses", "recipientId"] }),
      transactionKind,
      interface_,
    );
    describeList(
      "GET /wallets/{id}/transactions/sent",
      () => ({ path: `/wallets/${busiest.address}/transactions/sent`, rows: sent(busiest.address), without: ["addresses"] }),
      transactionKind,
      interface_,
    );
    describeList(
      "GET /wallets/{id}/locks",
      () => ({ path: `/wallets/${locker.address}/locks`, rows: lockRows.filter(({ sender }) => sender === locker || sender.address === locker.address) }),
      lockKindOf(figures),
      interface_,
    );

    describe("GET /wallets/{id}/votes", () => {
      const votes = sent(voter.address).filter(({ type, typeGroup }) => type === 3 && typeGroup === 1);
      const checks = () => createListChecks({ path: `/wallets/${voter.address}/votes`, rows: votes }, { ...transactionKind, filters: () => [] }, interface_);
      it("gives each vote once, whole, on a walk of its pages", () => checks().walk());
      it("applies each order", () => checks().eachOrder());
      it("is of a wallet that voted more than once", () => {
        expect(votes.length).to.be.greaterThan(1);
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

      it("shows it by public key and by username alike", async () => {
        const row = mostBy(walletRows, ({ username, publicKey }) => (username !== null && publicKey !== null ? 1 : 0));
        for (const id of [row.address, row.publicKey, row.username]) {
          expect((await served.get(`/wallets/${encodeURIComponent(String(id))}`)).body).to.deep.equal(parsed({ data: walletKind.present(row) }));
        }
      });

      it("refuses a query", async () => {
        const { status, body } = await served.get(`/wallets/${busiest.address}?page=1`);
        expect(status).to.equal(400);
        expect(body).to.deep.equal({
          statusCode: 400,
          error: "Bad Request",
          message: '"page" is not allowed',
          validation: { source: "query", keys: ["page"] },
        });
      });
    });

    describe("a wallet that nobody has seen", () => {
      const missing = { statusCode: 404, error: "Not Found", message: "Wallet not found" };
      const suffixes = ["", "/transactions", "/transactions/received", "/transactions/sent", "/votes", "/locks"];
      for (const id of ["AThatNobodyHasEverSeenAddress34xxx", "02".padEnd(66, "a"), "no such wallet", "%F0%9F%A6%89", "0"]) {
        it(`is not found by ${id}`, async () => {
          for (const suffix of suffixes) {
            const { status, body } = await served.get(`/wallets/${id}${suffix}`);
            expect(body, suffix).to.deep.equal(missing);
            expect(status).to.equal(404);
          }
        });
      }
    });

    describe("what the contract says is equal", () => {
      const bodyOf = async (path: string, body: unknown): Promise<unknown> => ((await served.post(path, body)).body as { data: unknown }).data;
      const dataOf = async (path: string): Promise<unknown> => ((await served.get(path)).body as { data: unknown }).data;
      const { address } = busiest;

      it("received: the search with recipientId", async () => {
        expect(await dataOf(`/wallets/${address}/transactions/received`)).to.deep.equal(
          await bodyOf("/transactions/search", { recipientId: address }),
        );
      });
      it("sent: the search with senderId", async () => {
        expect(await dataOf(`/wallets/${address}/transactions/sent`)).to.deep.equal(await bodyOf("/transactions/search", { senderId: address }));
      });
      it("all: the search with ownerId", async () => {
        expect(await dataOf(`/wallets/${address}/transactions`)).to.deep.equal(await bodyOf("/transactions/search", { ownerId: address }));
      });
    });

    describe("what is refused", () => {
      const refusals: [query: string, key: string, message: string][] = [
        ["limit=0", "limit", '"limit" must be >= 1'],
        ["limit=101", "limit", '"limit" must be <= 100'],
        ["limit=ten", "limit", '"limit" must be integer'],
        ["page=0", "page", '"page" must be >= 1'],
        ["offset=-1", "offset", '"offset" must be >= 0'],
        ["foo=1", "foo", '"foo" is not allowed'],
        ["orderBy=foo", "orderBy", '"orderBy" must be one of address, publicKey, username, balance, voteBalance, each alone or with :asc or :desc'],
        ["orderBy=balance:up", "orderBy", '"orderBy" must be one of address, publicKey, username, balance, voteBalance, each alone or with :asc or :desc'],
        ["balance.from=x", "balance.from", '"balance.from" must be a whole number'],
        ["balance.form=1", "balance.form", '"balance.form" is not allowed'],
        ["producedBlocks.to=1.5", "producedBlocks.to", '"producedBlocks.to" must be integer'],
        ["publicKey=abc", "publicKey", '"publicKey" must be 66 hexadecimal digits'],
        ["vote=%2B", "vote", '"vote" must be 66 hexadecimal digits'],
      ];
      for (const [query, key, message] of refusals) {
        it(`a query of ${query}`, async () => {
          const { status, body } = await served.get(`/wallets?${query}`);
          expect(status).to.equal(400);
          expect(body).to.deep.equal({ statusCode: 400, error: "Bad Request", message, validation: { source: "query", keys: [key] } });
        });
      }

      const bodies: [body: unknown, key: string, message: string][] = [
        [{ foo: 1 }, "foo", '"foo" is not allowed'],
        [{ addresses: [] }, "addresses", '"addresses" must NOT have fewer than 1 items'],
        [{ addresses: Array.from({ length: 51 }, () => "A") }, "addresses", '"addresses" must NOT have more than 50 items'],
        [{ balance: { from: 1.5 } }, "balance.from", '"balance.from" must be a whole number'],
        [{ balance: 5 }, "balance", '"balance" must be object'],
        [{ balance: { form: 5 } }, "balance.form", '"balance.form" is not allowed'],
        [{ username: 5 }, "username", '"username" must be string'],
        [[], "value", '"value" must be object'],
      ];
      for (const [sent_, key, message] of bodies) {
        it(`a body of ${JSON.stringify(sent_).slice(0, 40)}`, async () => {
          const { status, body } = await served.post("/wallets/search", sent_);
          expect(status).to.equal(400);
          expect(body).to.deep.equal({ statusCode: 400, error: "Bad Request", message, validation: { source: "payload", keys: [key] } });
        });
      }
    });

    it("takes a search without a body, and an empty one, as the whole list", async () => {
      const { body } = await served.get("/wallets");
      const { data } = body as { data: unknown };
      for (const given of [undefined, {}]) {
        expect(((await served.post("/wallets/search", given)).body as { data: unknown }).data).to.deep.equal(data);
      }
    });

    it("lets the order of a search's body win over its query's", async () => {
      const first = async (path: string, body: unknown): Promise<unknown> => ((await served.post(path, body)).body as { data: unknown[] }).data[0];
      const lowest = [...walletRows].sort((a, b) => (a.address < b.address ? -1 : 1))[0] as WalletRow;
      expect(await first("/wallets/search?orderBy=address:desc", { orderBy: "address:asc" })).to.deep.equal(parsed(walletKind.present(lowest)));
    });
  });
}
