import { expect } from "chai";
import { atTip } from "../../src/conformance/figures/at-tip.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { createSampleChain } from "../../src/conformance/chain/sample-chain.js";
import { startNode } from "../fixtures/node.js";
import type { AmountForm } from "./as-sent.js";
import { type Client, laterClient } from "./clients.js";
import { createReplayer, type Replayer } from "./recorded.js";

/**
 * A chain whose every large amount is beyond 2^53, where doubles no longer represent every integer. Its figures were computed by
 * hand. Replies are examined as text, since a JSON parser would round them.
 */

const { network, blocks } = createSampleChain();
const { joe, mia, ned, ivy } = actors;

interface Serving {
  replayer: Replayer;
  client: Client;
  /** The digits of a member, as written. */
  digits(member: string, text: string): string[];
}

const serve = async (amounts: AmountForm): Promise<Serving> => {
  const { plugin, origin } = await startNode({ network, blocks, options: { amounts, webhooks: false } });
  await plugin.settled();
  const value = amounts === "number" ? "(-?\\d+)[,}]" : '"(-?\\d+)"';
  const digits = (member: string, text: string): string[] => [...text.matchAll(new RegExp(`"${member}":${value}`, "g"))].map(([, found = ""]) => found);
  return { replayer: createReplayer(origin), client: laterClient("client-3.0", "3.0.0", "/api").connect(origin), digits };
};

for (const amounts of ["number", "string"] as const) {
  describe(`amounts beyond 2^53, as ${amounts}s`, () => {
    let serving: Serving;
    before(async () => {
      serving = await serve(amounts);
    });
    after(() => serving.replayer.close());
    const textOf = async (path: string): Promise<string> => {
      const { status, text } = await serving.replayer.replay({ path: `/api${path}` });
      expect(status, text).to.equal(200);
      return text;
    };
    const shown = async (member: string, path: string): Promise<string[]> => serving.digits(member, await textOf(path));

    it("are complete in every wallet", async () => {
      for (const { address, balance, lockedBalance } of atTip.wallets) {
        expect(await shown("balance", `/wallets/${address}`), address).to.deep.equal([balance.toString()]);
        expect((await shown("lockedBalance", `/wallets/${address}`))[0], address).to.equal(lockedBalance.toString());
      }
      expect((await shown("balance", "/wallets/top"))[0]).to.equal("2981985110440606656");
    });

    it("are complete in every delegate, and in the balances of its voters", async () => {
      for (const { username, voteBalance, forgedFees, forgedRewards, forgedTotal } of atTip.delegates) {
        const text = await textOf(`/delegates/${username}`);
        const expected = { votes: voteBalance, fees: forgedFees, rewards: forgedRewards, total: forgedTotal };
        for (const [member, amount] of Object.entries(expected)) expect(serving.digits(member, text), `${username} ${member}`).to.deep.equal([amount.toString()]);
      }
      expect(await shown(joe.address, "/delegates/hal_2/voters/balances")).to.deep.equal(["2981985110440606656"]);
    });

    it("are complete in the supply, in blocks, transactions, locks and rounds", async () => {
      expect(await shown("supply", "/blockchain")).to.deep.equal([atTip.supply.toString()]);
      expect(await shown("amount", "/blocks/1")).to.deep.equal(["12500000000000000001"]);
      expect(await shown("amount", `/wallets/${mia.address}/transactions/received?type=0&limit=1`)).to.deep.equal(["9007199254740993"]);
      expect(await shown("amount", "/locks?orderBy=amount:desc&limit=1")).to.deep.equal(["999999999999"]);
      const [round] = atTip.rounds.slice(-1);
      expect(await shown("votes", `/rounds/${atTip.rounds.length}/delegates`)).to.deep.equal(round?.map(([, votes]) => votes.toString()));
    });

    it("are compared and ordered by all their digits", async () => {
      const first = async (path: string): Promise<string[]> => {
        const { data } = JSON.parse(await textOf(path)) as { data: { address: string }[] };
        return data.map(({ address }) => address);
      };
      const both = [mia.address, ned.address];
      expect(await first(`/wallets?addresses=${both.join(",")}&orderBy=balance:desc`)).to.deep.equal(both);
      expect(await first(`/wallets?addresses=${both.join(",")}&orderBy=balance:asc`)).to.deep.equal([...both].reverse());
      expect(await first("/wallets?balance=9007199254740993")).to.deep.equal([mia.address]);
      expect(await first("/wallets?balance.from=9007199254740992&balance.to=9007199254740992")).to.deep.equal([ned.address]);
      for (const bound of ["9007199254740993", '"9007199254740993"']) {
        const body = `{"amount":{"from":${bound},"to":${bound}}}`;
        const { text } = await serving.replayer.replay({ method: "POST", path: "/api/transactions/search", body });
        expect(serving.digits("amount", text)).to.deep.equal(["9007199254740993"]);
      }
    });

    it("can be sent as text in a filter by client 3.0.0", async () => {
      const { body } = await serving.client.call("wallets", "all", [{ balance: { from: "2981985110440606656" } }]);
      expect(body).to.have.nested.property("meta.totalCount", 1);
      expect(body).to.have.nested.property("data[0].address", joe.address);
      const { body: none } = await serving.client.call("wallets", "all", [{ balance: { from: "2981985110440606657" } }]);
      expect(none).to.have.nested.property("meta.totalCount", 0);
    });

    it(amounts === "string" ? "reach client 3.0.0 complete" : "reach client 3.0.0 rounded by its parser, hence the other form", async () => {
      const { body } = await serving.client.call("wallets", "get", [ivy.address]);
      const balance = "1999999664197650424";
      expect(body).to.have.nested.property("data.balance", amounts === "string" ? balance : Number(balance));
      expect(String(Number(balance))).to.not.equal(balance);
    });
  });
}
