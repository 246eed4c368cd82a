import { expect } from "chai";
import type { TransactionRow } from "../e2e/figures.js";
import { type Interface, serveNode } from "./serve-node.js";
import { busiest, delegateRows, isVote, locker, ownedBy, receivedBy, sentBy, transactionRows, voter, votes, walletRows } from "./knowledge.js";
import { spread } from "../fixtures/long.js";

/** What the contract declares equal, requested both ways for the chain's wallets and delegates. */

interface Page {
  meta: { totalCount: number };
  data: { id: string }[];
}

/** Some wallets, the busiest among them: walking all pages of each list for every wallet takes too long. */
const someWallets = [...new Set([...spread(walletRows, 10), busiest, voter, locker])];
/** More of them, for what takes one request or two. */
const moreWallets = [...new Set([...spread(walletRows, 25), ...someWallets])];

const someDelegates = spread(delegateRows, 15);

const newestFirst = (passes: (row: TransactionRow) => boolean): string[] =>
  transactionRows
    .filter(passes)
    .map(({ id }) => id)
    .reverse();

describe("what the contract declares equal", () => {
  let served: Interface;
  before(async () => {
    served = await serveNode();
  });
  after(() => served.close());

  /** All rows of a list, page by page, checked against its total. */
  const walk = async (page: (query: string) => Promise<unknown>): Promise<unknown[]> => {
    const rows: unknown[] = [];
    for (let number = 1; ; number++) {
      const { meta, data } = (await page(`page=${number}`)) as Page;
      rows.push(...data);
      if (data.length < 100) {
        expect(rows).to.have.lengthOf(meta.totalCount);
        return rows;
      }
    }
  };
  const list = (path: string): Promise<unknown[]> => walk((query) => served.get(`${path}?${query}`));
  const search = (path: string, body: object): Promise<unknown[]> => walk((query) => served.post(`${path}?${query}`, body));
  /** Byte for byte, including the order of rows and members. */
  const same = (rows: unknown[], others: unknown[]): void => {
    const [one, other] = [JSON.stringify(rows), JSON.stringify(others)];
    if (one !== other) expect(rows).to.deep.equal(others);
    expect(one === other).to.equal(true);
  };
  const idsOf = (rows: unknown[]): string[] => (rows as { id: string }[]).map(({ id }) => id);

  it("includes a wallet's transactions and the searches by owner and by address", async () => {
    for (const { address } of someWallets) {
      const rows = await list(`/wallets/${address}/transactions`);
      same(rows, await search("/transactions/search", { ownerId: address }));
      same(rows, await search("/transactions/search", { addresses: [address] }));
      const [sent, received] = [await search("/transactions/search", { senderId: address }), await search("/transactions/search", { recipientId: address })];
      expect(new Set(idsOf(rows))).to.deep.equal(new Set([...idsOf(sent), ...idsOf(received)]));
      expect(idsOf(rows)).to.deep.equal(newestFirst(ownedBy(address)));
    }
  });

  it("includes what a wallet received and the search by recipient, multi-payments included", async () => {
    for (const { address } of someWallets) {
      const rows = await list(`/wallets/${address}/transactions/received`);
      same(rows, await search("/transactions/search", { recipientId: address }));
      expect(idsOf(rows)).to.deep.equal(newestFirst(receivedBy(address)));
    }
  });

  it("includes what a wallet sent and the search by sender", async () => {
    for (const { address, publicKey } of someWallets) {
      const rows = await list(`/wallets/${address}/transactions/sent`);
      same(rows, await search("/transactions/search", { senderId: address }));
      if (publicKey !== null) same(rows, await search("/transactions/search", { senderPublicKey: publicKey }));
      expect(idsOf(rows)).to.deep.equal(newestFirst(sentBy(address)));
    }
  });

  it("includes a wallet's votes and the search by sender and type 3", async () => {
    for (const { address } of moreWallets) {
      const rows = await list(`/wallets/${address}/votes`);
      same(rows, await search("/transactions/search", { senderId: address, type: 3 }));
      expect(idsOf(rows)).to.deep.equal(newestFirst((row) => isVote(row) && row.sender === address));
    }
  });

  it("includes a wallet by its address, its public key and its username", async () => {
    for (const { address, publicKey, username } of moreWallets) {
      const byAddress = await served.get(`/wallets/${address}`);
      for (const id of [publicKey, username]) if (id !== null) expect(await served.get(`/wallets/${id}`)).to.deep.equal(byAddress);
    }
  });

  it("includes votes and the search with type 3", async () => {
    const rows = await list("/votes");
    same(rows, await search("/transactions/search", { type: 3, typeGroup: 1 }));
    same(rows, await search("/transactions/search", { type: 3 }));
    expect(idsOf(rows)).to.deep.equal(newestFirst(isVote));
  });

  it("includes a delegate's blocks and the block search by public key", async () => {
    for (const { username, publicKey, producedBlocks } of someDelegates) {
      const rows = await list(`/delegates/${username}/blocks`);
      same(rows, await search("/blocks/search", { generatorPublicKey: publicKey }));
      expect(rows).to.have.lengthOf(producedBlocks);
    }
  });

  it("includes a delegate's voters, the wallet search by vote, and the voters' balances", async () => {
    for (const { username, publicKey, voteBalance } of someDelegates) {
      const rows = (await list(`/delegates/${username}/voters`)) as { address: string; balance: number; lockedBalance: number }[];
      same(rows, await search("/wallets/search", { vote: publicKey }));
      const { data } = (await served.get(`/delegates/${username}/voters/balances`)) as { data: Record<string, number> };
      expect(Object.entries(data)).to.deep.equal(rows.map(({ address, balance }) => [address, balance]));
      expect(rows.reduce((sum, { balance, lockedBalance }) => sum + BigInt(balance) + BigInt(lockedBalance), 0n)).to.equal(BigInt(voteBalance));
    }
  });

  it("includes a delegate by its username, its address and its public key, on every route", async () => {
    for (const { username, address, publicKey } of someDelegates) {
      for (const suffix of ["", "/blocks", "/voters", "/voters/balances"]) {
        const dataOf = async (id: string): Promise<unknown> => ((await served.get(`/delegates/${id}${suffix}`)) as { data: unknown }).data;
        const byName = await dataOf(username);
        for (const id of [address, publicKey]) expect(await dataOf(id)).to.deep.equal(byName);
      }
    }
  });

  it("includes a list, an empty search and a search without a body", async () => {
    for (const path of ["/wallets", "/delegates", "/blocks", "/transactions", "/locks"]) {
      const { data } = (await served.get(path)) as Page;
      for (const body of [{}, undefined]) expect(((await served.post(`${path}/search`, body)) as Page).data).to.deep.equal(data);
    }
  });
});

describe("votes that switch delegates in one transaction", () => {
  let served: Interface;
  before(async () => {
    served = await serveNode();
  });
  after(() => served.close());

  const votesIn = ({ asset }: TransactionRow): string[] => (asset as { votes: string[] }).votes;
  const switches = votes.filter((row) => votesIn(row).length === 2);
  const [lastVotes] = [new Map(votes.map((row) => [row.sender, row]))];

  it("occur on the chain", () => {
    expect(switches.length).to.be.greaterThan(50);
    for (const row of switches) expect(votesIn(row).map((vote) => vote.charAt(0))).to.deep.equal(["-", "+"]);
  });

  it("are shown with both halves", async () => {
    for (const row of switches.slice(-25)) {
      const { data } = (await served.get(`/votes/${row.id}`)) as { data: { asset: unknown; recipient: string; sender: string } };
      expect(data.asset).to.deep.equal(row.asset);
      expect(data.recipient).to.equal(data.sender);
    }
  });

  it("count for the second delegate, and no longer for the first", async () => {
    const last = switches.filter((row) => lastVotes.get(row.sender) === row);
    expect(last.length).to.be.greaterThan(10);
    for (const row of last) {
      const [from = "", to = ""] = votesIn(row).map((vote) => vote.slice(1));
      const { data } = (await served.get(`/wallets/${row.sender}`)) as { data: { vote: string } };
      expect(data.vote, row.sender).to.equal(to);
      const isVoter = async (delegate: string): Promise<boolean> =>
        ((await served.post("/wallets/search", { address: row.sender, vote: delegate })) as Page).meta.totalCount === 1;
      expect([await isVoter(from), await isVoter(to)], row.sender).to.deep.equal([false, true]);
    }
  });
});
