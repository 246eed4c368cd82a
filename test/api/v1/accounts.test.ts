import { expect } from "chai";
import { chainNames } from "../../e2e/chains.js";
import { figuresOf, type WalletRow } from "../../e2e/figures.js";
import { flatAccount } from "../../e2e/flat-shapes.js";
import { type Served, serveFirst } from "../../e2e/first-generation.js";
import { parsed } from "../../e2e/interface.js";
import { walletKind } from "../../e2e/kinds.js";
import { sorted } from "../../e2e/naive-list.js";
import { spread } from "../../fixtures/long.js";

/** Well formed, with the networks' version byte, but of no wallet. */
const nobody = "AKdr5d9AMEnsKYxpDcoHdyyjSCKVx3r9Nj";
const otherNetwork = "DGihocTkwDygiFvmg6aG8jThYTic47GzU9";

for (const name of chainNames) {
  describe(`accounts of ${name}, first generation`, () => {
    const { walletRows, delegateRows, meta } = figuresOf(name);
    const richestFirst = sorted(walletRows, "balance:desc", walletKind);
    const richest = richestFirst[0] as WalletRow;
    let served: Served;

    before(async () => {
      served = await serveFirst(name);
    });
    after(() => served.stop());

    it("include every kind that matters to these tests", () => {
      expect(walletRows.some(({ secondPublicKey }) => secondPublicKey !== null)).to.equal(true);
      expect(walletRows.some(({ multiSignature }) => multiSignature !== null)).to.equal(true);
      expect(walletRows.some(({ publicKey }) => publicKey === null)).to.equal(true);
      expect(walletRows.some(({ balance }) => balance.startsWith("-"))).to.equal(true);
      expect(walletRows.some(({ address }) => address === nobody || address === otherNetwork)).to.equal(false);
    });

    it("are each answered by address by GET /accounts, getBalance, getPublicKey and getPublickey", async () => {
      for (const row of spread(walletRows, 50)) {
        const of = `?address=${row.address}`;
        expect(await served.get(`/accounts${of}`)).to.deep.equal({ account: flatAccount(row), success: true });
        const { balance, publicKey } = row;
        expect(await served.get(`/accounts/getBalance${of}`)).to.deep.equal({ balance, unconfirmedBalance: balance, success: true });
        for (const spelling of ["getPublicKey", "getPublickey"]) {
          expect(await served.get(`/accounts/${spelling}${of}`)).to.deep.equal({ publicKey, success: true });
        }
      }
    });

    it("are shown with the delegate they vote for by GET /accounts/delegates", async () => {
      const listed = new Map<unknown, Record<string, unknown>>();
      for (const offset of [0, 51, 102]) {
        const { delegates } = await served.get(`/delegates?offset=${offset}`);
        for (const delegate of delegates as Record<string, unknown>[]) listed.set(delegate.publicKey, delegate);
      }
      const weights = new Map(delegateRows.map(({ publicKey, voteBalance }) => [publicKey, voteBalance]));
      for (const { address, vote } of spread(walletRows, 50)) {
        const path = `/accounts/delegates?address=${address}`;
        if (vote === null) {
          expect(await served.refusal(path)).to.equal(`Address ${address} hasn't voted yet.`);
        } else {
          const { delegates } = await served.get(path);
          expect(delegates).to.deep.equal([{ ...listed.get(vote), vote: weights.get(vote) }]);
        }
      }
    });

    it("answer an unknown address differently from an invalid one", async () => {
      for (const [path, error] of [
        ["/accounts", "Account not found"],
        ["/accounts/getPublicKey", "Account not found"],
        ["/accounts/getPublickey", "Account not found"],
        ["/accounts/delegates", "Address not found."],
      ] as const) {
        expect(await served.refusal(`${path}?address=${nobody}`), path).to.equal(error);
      }
      expect(await served.get(`/accounts/getBalance?address=${nobody}`)).to.deep.equal({ balance: "0", unconfirmedBalance: "0", success: true });

      const mistyped = `${richest.address.slice(0, -1)}${richest.address.endsWith("a") ? "b" : "a"}`;
      const { username, publicKey } = delegateRows[0] ?? { username: "", publicKey: "" };
      for (const path of ["/accounts", "/accounts/getBalance", "/accounts/getPublicKey", "/accounts/getPublickey", "/accounts/delegates"]) {
        expect(await served.refusal(path), path).to.equal('"address" is required');
        for (const address of ["", "1", "no address", mistyped, otherNetwork, username, publicKey]) {
          const asked = `${path}?address=${encodeURIComponent(address)}`;
          expect(await served.refusal(asked), asked).to.equal('"address" must be an address of this network');
        }
      }
    });

    it("have the fee of a registration at GET /accounts/delegates/fee", async () => {
      expect(await served.get("/accounts/delegates/fee")).to.deep.equal({ fee: 2_500_000_000, success: true });
    });

    it("are counted by GET /accounts/count", async () => {
      expect(await served.get("/accounts/count")).to.deep.equal({ count: meta.counts.wallets, success: true });
    });

    const lists: [path: string, present: (row: WalletRow) => unknown, more: object][] = [
      ["/accounts/getAllAccounts", flatAccount, { totalCount: walletRows.length }],
      ["/accounts/top", ({ address, balance, publicKey }) => ({ address, balance, publicKey }), {}],
    ];
    for (const [path, present, more] of lists) {
      describe(`GET ${path}`, () => {
        it("lists a hundred by default, richest first", async () => {
          const expected = { accounts: richestFirst.slice(0, 100).map(present), ...more, success: true };
          expect(await served.get(path)).to.deep.equal(parsed(expected));
          expect(await served.get(`${path}?limit=0&offset=0`)).to.deep.equal(parsed(expected));
        });

        it("returns each account once across its offsets", async () => {
          const seen: unknown[] = [];
          for (let offset = 0; offset < walletRows.length + 70; offset += 70) {
            seen.push(...((await served.get(`${path}?limit=70&offset=${offset}`)).accounts as unknown[]));
          }
          expect(seen).to.deep.equal(richestFirst.map(present));
        });

        it("refuses a limit or offset out of bounds", async () => {
          expect(await served.refusal(`${path}?limit=101`)).to.equal('"limit" must be <= 100');
          expect(await served.refusal(`${path}?limit=-1`)).to.equal('"limit" must be >= 0');
          expect(await served.refusal(`${path}?offset=-1`)).to.equal('"offset" must be >= 0');
          expect(await served.refusal(`${path}?offset=1.5`)).to.equal('"offset" must be integer');
        });
      });
    }
  });
}
