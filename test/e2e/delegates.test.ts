import { expect } from "chai";
import { isLong, spread } from "../fixtures/long.js";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { blockKindOf, delegateKind, type DelegateRow, delegateRowsOf, walletKind } from "./kinds.js";
import { describeList, sorted } from "./naive-list.js";
import { expectNotFound } from "./refusals.js";

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
    const interface_ = () => served;
    const main = { pairs: isLong || name === "core3-custom-c" };
    const narrowed = { pairs: isLong && name === "core3-custom-c" };

    describeList("GET /delegates, POST /delegates/search", () => ({ path: "/delegates", search: "/delegates/search", rows }), delegateKind, interface_, main);
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
      for (const row of spread(rows, 20)) {
        const expected = parsed(delegateKind.present(row));
        for (const id of [row.username, row.address, row.publicKey, row.publicKey.toUpperCase()]) {
          expect(dataOf(await served.get(`/delegates/${encodeURIComponent(id)}`))).to.deep.equal(expected);
        }
      }
    });

    it("have their voters listed with balances, richest first", async () => {
      for (const { username, publicKey } of spread(rows, 25)) {
        const voters = sorted(figures.walletRows.filter(({ vote }) => vote === publicKey), "balance:desc", walletKind);
        const path = `/delegates/${encodeURIComponent(username)}/voters`;
        expect(dataOf(await served.get(path))).to.deep.equal(parsed(voters.slice(0, 100).map(walletKind.present)));
        const balances = dataOf(await served.get(`${path}/balances`)) as Record<string, unknown>;
        expect(Object.entries(balances)).to.deep.equal(voters.map(({ address, balance }) => [address, Number(balance)]));
      }
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
  });
}
