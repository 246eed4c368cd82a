import { expect } from "chai";
import { asSent } from "./as-sent.js";
import { type Client, laterClient } from "./clients.js";
import { busiest, delegateRows, fullest, listDelegates, listLocks, listTransactions, listWallets, locker, lockRows, mostVoted, ownedBy, voter, walletRows } from "./knowledge.js";
import { runningNode } from "./running-node.js";

/**
 * Clients 2.0 and 3.0 flatten every query: ranges as `balance.from`, lists as `addresses.0`. Client 3.0 has only this, and no
 * searches.
 */
for (const of of [laterClient("client-2.0", "2.0.0", "/api"), laterClient("client-3.0", "3.0.0", "/api/v2")]) {
  describe(`${of.name} filters lists`, () => {
    const { address } = busiest;
    const some = [busiest, voter, locker].map((row) => row.address);
    let client: Client;
    before(async () => {
      client = of.connect((await runningNode()).origin);
    });

    /** Expects the list's whole answer, whose links repeat the query as sent. */
    const expectList = async (resource: string, query: object, sent: Record<string, string | number>, expected: (query: Record<string, string | number>) => unknown): Promise<void> => {
      const { status, body } = await client.call(resource, "all", [query]);
      expect(body).to.deep.equal(asSent("number", expected(sent)));
      expect(status).to.equal(200);
    };
    const numbered = (name: string, values: string[]): Record<string, string> => Object.fromEntries(values.map((value, index) => [`${name}.${index}`, value]));

    it("by ranges", async () => {
      await expectList("wallets", { vote: mostVoted.publicKey, balance: { from: 10_000_000 } }, { vote: mostVoted.publicKey, "balance.from": 10_000_000 }, (query) =>
        listWallets({ path: "wallets", query, passes: ({ vote, balance }) => vote === mostVoted.publicKey && BigInt(balance) >= 10_000_000n }),
      );
      await expectList("delegates", { producedBlocks: { from: 5, to: 6 }, orderBy: "votes:desc" }, { "producedBlocks.from": 5, "producedBlocks.to": 6, orderBy: "votes:desc" }, (query) =>
        listDelegates({ path: "delegates", query, passes: ({ producedBlocks }) => producedBlocks >= 5 && producedBlocks <= 6, order: "votes:desc" }),
      );
    });

    it("by lists of addresses, under either name", async () => {
      for (const name of ["addresses", "address"]) {
        await expectList("wallets", { [name]: some }, numbered(name, some), (query) => listWallets({ path: "wallets", query, passes: (row) => some.includes(row.address) }));
        await expectList("transactions", { [name]: some, limit: 30 }, { ...numbered(name, some), limit: 30 }, (query) =>
          listTransactions({ path: "transactions", query, passes: (row) => some.some((each) => ownedBy(each)(row)) }),
        );
        await expectList("wallets", { [name]: some.join(",") }, { [name]: some.join(",") }, (query) => listWallets({ path: "wallets", query, passes: (row) => some.includes(row.address) }));
      }
      const { body } = await client.call("blocks", "transactions", [fullest.id, { address: [address, voter.address] }]);
      const both = [ownedBy(address), ownedBy(voter.address)];
      expect(body).to.deep.equal(
        asSent(
          "number",
          listTransactions({
            path: `blocks/${fullest.id}/transactions`,
            query: numbered("address", [address, voter.address]),
            passes: (row) => row.block.id === fullest.id && both.some((owns) => owns(row)),
          }),
        ),
      );
    });

    it("by both names at once if the list allows it", async () => {
      const { body } = await client.call("wallets", "all", [{ address: some, addresses: [address, "AnotherAddress"] }]);
      expect(body).to.have.nested.property("meta.totalCount", 1);
      expect(body).to.have.nested.property("data[0].address", address);
      const { status, body: refused } = await client.call("transactions", "all", [{ address: some, addresses: [address] }]);
      expect(status).to.equal(400);
      expect(refused).to.have.property("message", '"address" cannot be given together with "addresses"');
    });

    it("by usernames", async () => {
      const usernames = delegateRows.slice(0, 3).map(({ username }) => username);
      await expectList("delegates", { usernames }, numbered("usernames", usernames), (query) => listDelegates({ path: "delegates", query, passes: ({ username }) => usernames.includes(username) }));
    });

    it("by the state of delegates", async () => {
      await expectList("delegates", { type: "resigned" }, { type: "resigned" }, (query) => listDelegates({ path: "delegates", query, passes: ({ resigned }) => resigned }));
      await expectList("delegates", { type: "never-forged" }, { type: "never-forged" }, (query) =>
        listDelegates({ path: "delegates", query, passes: ({ producedBlocks }) => producedBlocks === 0 }),
      );
      const { body } = await client.call("delegates", "all", [{ type: "never-forged", producedBlocks: { from: 1 } }]);
      expect(body).to.have.nested.property("meta.totalCount", 0);
      expect(await client.call("delegates", "all", [{ type: "retired" }])).to.have.property("status", 400);
    });

    it("by the vendor field of a lock", async () => {
      const said = lockRows.find(({ vendorField }) => vendorField !== undefined && vendorField !== "")?.vendorField ?? "nothing";
      await expectList("locks", { vendorField: said }, { vendorField: said }, (query) => listLocks({ path: "locks", query, passes: ({ vendorField }) => vendorField === said }));
      expect(said).to.not.equal("nothing");
    });

    it("on rows that the filters distinguish", () => {
      expect(walletRows.filter((row) => some.includes(row.address))).to.have.lengthOf(3);
      expect(delegateRows.filter(({ resigned }) => resigned).length).to.be.within(1, delegateRows.length - 1);
      expect(delegateRows.filter(({ producedBlocks }) => producedBlocks === 0).length).to.be.within(1, delegateRows.length - 1);
    });
  });
}

/** The clients' own bugs: no node can know what was meant, so it reports what is wrong with the request. */
describe("bugs in the clients themselves", () => {
  let origin: string;
  before(async () => {
    ({ origin } = await runningNode());
  });
  const refused = (key: string, rule: string) => ({
    status: 400,
    body: { statusCode: 400, error: "Bad Request", message: `"${key}" ${rule}`, code: "BAD_REQUEST", validation: { source: "query", keys: [key] } },
  });

  for (const [alias, version] of [["client-1.1", "1.1.4"], ["client-2.0", "2.0.0"], ["client-3.0", "3.0.0"]] as const) {
    it(`make client ${version} ask for the fees of "undefined" days if it is given no number`, async () => {
      expect(await laterClient(alias, version, "/api").connect(origin).call("node", "fees", [])).to.deep.equal(refused("days", "must be integer"));
    });
    it(`make client ${version} send "undefined" for a page that is undefined`, async () => {
      const client = laterClient(alias, version, "/api").connect(origin);
      expect(await client.call("delegates", "voters", [mostVoted.username, { page: undefined }])).to.deep.equal(refused("page", "must be integer"));
    });
  }
  for (const [alias, version] of [["client-1.0", "1.0.5"], ["client-1.1", "1.1.4"]] as const) {
    it(`make client ${version} write a range in a query as "[object Object]", while its searches work`, async () => {
      const client = laterClient(alias, version, "/api").connect(origin);
      expect(await client.call("wallets", "all", [{ balance: { from: 1 } }])).to.deep.equal(refused("balance", "must be a whole number"));
      expect(await client.call("wallets", "search", [{ balance: { from: 1 } }])).to.have.property("status", 200);
    });
  }
});
