import { expect } from "chai";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { blockKindOf, delegateKind, type DelegateRow, delegateRowsOf, walletKind } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound, expectRefused, orderRule, pagingRefusals } from "./refusals.js";

for (const name of chainNames) {
  describe(`delegates of ${name}, second generation`, () => {
    const figures = figuresOf(name);
    let served: Interface;
    let rows: DelegateRow[];
    let mostVoted: DelegateRow;
    before(async () => {
      served = await serveChain(name);
      rows = delegateRowsOf(figures);
      const votersOf = ({ publicKey }: DelegateRow): number => figures.walletRows.filter(({ vote }) => vote === publicKey).length;
      mostVoted = rows.reduce((best, row) => (votersOf(row) > votersOf(best) ? row : best));
    });
    after(() => served.stop());
    const interface_ = () => served;
    const narrowed = { pairs: name === "core3-custom-c" };

    describeList("GET /delegates, POST /delegates/search", () => ({ path: "/delegates", search: "/delegates/search", rows }), delegateKind, interface_);
    describeList(
      "GET /delegates/{id}/blocks",
      () => ({
        path: `/delegates/${encodeURIComponent(mostVoted.username)}/blocks`,
        rows: figures.blockRows.filter(({ generatorPublicKey }) => generatorPublicKey === mostVoted.publicKey),
      }),
      blockKindOf(figures),
      interface_,
      narrowed,
    );
    describeList(
      "GET /delegates/{id}/voters",
      () => ({ path: `/delegates/${mostVoted.publicKey}/voters`, rows: figures.walletRows.filter(({ vote }) => vote === mostVoted.publicKey) }),
      walletKind,
      interface_,
      narrowed,
    );

    it("are each shown the same by username, address and public key", async () => {
      for (const row of rows) {
        const expected = parsed(delegateKind.present(row));
        for (const id of [row.username, row.address, row.publicKey, row.publicKey.toUpperCase()]) {
          expect(dataOf(await served.get(`/delegates/${encodeURIComponent(id)}`))).to.deep.equal(expected);
        }
      }
    });

    it("have their voters listed with balances, richest first", async () => {
      for (const { username, publicKey } of rows) {
        const voters = sorted(figures.walletRows.filter(({ vote }) => vote === publicKey), "balance:desc", walletKind);
        const path = `/delegates/${encodeURIComponent(username)}/voters`;
        expect(dataOf(await served.get(path))).to.deep.equal(parsed(voters.slice(0, 100).map(walletKind.present)));
        const balances = dataOf(await served.get(`${path}/balances`)) as Record<string, unknown>;
        expect(Object.entries(balances)).to.deep.equal(voters.map(({ address, balance }) => [address, Number(balance)]));
      }
    });

    it("have their blocks listed like a block search by public key", async () => {
      expect(dataOf(await served.get(`/delegates/${mostVoted.address}/blocks`))).to.deep.equal(
        dataOf(await served.post("/blocks/search", { generatorPublicKey: mostVoted.publicKey })),
      );
    });

    for (const id of ["nobody", "Nobody%20at%20all", "02".padEnd(66, "b"), "0"]) {
      it(`are not found by ${id}`, async () => {
        for (const suffix of ["", "/blocks", "/voters", "/voters/balances"]) {
          expectNotFound(await served.get(`/delegates/${id}${suffix}`), "Delegate not found");
        }
      });
    }

    it("do not include a wallet that is not a delegate", async () => {
      const wallet = figures.walletRows.find(({ isDelegate }) => !isDelegate);
      expectNotFound(await served.get(`/delegates/${String(wallet?.address)}`), "Delegate not found");
    });

    const order = orderRule(...Object.keys(delegateKind.orders));
    const queries: [query: string, key: string, rule: string][] = [
      ...pagingRefusals,
      ["orderBy=rate", "orderBy", `${order}; did you mean "rank"?`],
      ["orderBy=rank:", "orderBy", order],
      ["approval.from=many", "approval.from", "must be number"],
      ["forgedTotal.to=0.5", "forgedTotal.to", "must be a whole number"],
    ];
    for (const [query, key, rule] of queries) {
      it(`refuse a query of ${query}`, async () => {
        expectRefused(await served.get(`/delegates?${query}`), "query", key, rule);
      });
    }

    const bodies: [body: unknown, key: string, rule: string][] = [
      [{ rank: 1 }, "rank", "is not allowed"],
      [{ usernames: "genesis_1" }, "usernames", "must be array"],
      [{ approval: { from: "a" } }, "approval.from", "must be number"],
      [{ forgedFees: { from: {} } }, "forgedFees.from", "must be a whole number"],
    ];
    for (const [body, key, rule] of bodies) {
      it(`refuse a body of ${JSON.stringify(body)}`, async () => {
        expectRefused(await served.post("/delegates/search", body), "payload", key, rule);
      });
    }
  });
}
