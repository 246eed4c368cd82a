import { expect } from "chai";
import { asSent } from "./as-sent.js";
import {
  busiest,
  configurationBody,
  cryptoBody,
  feesBody,
  isVote,
  listDelegates,
  listTransactions,
  listWallets,
  locker,
  meta,
  mostVoted,
  notFound,
  ownedBy,
  showWallet,
  staticFees,
  syncingBody,
  transactionRows,
  voter,
  votersOf,
  walletRows,
} from "./knowledge.js";
import { axios, describeProgram, type Program, type Session } from "./program.js";
import { publicPeersAt } from "./running-node.js";

const got = { "User-Agent": "got/9.6.0 (https://github.com/sindresorhus/got)", "Accept-Encoding": "gzip, deflate" };
const electron = { Accept: "*/*", "User-Agent": "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 Electron/8.2.5", "Accept-Encoding": "gzip, deflate, br" };
const ofClient01 = { ...axios, "API-Version": "2", "Content-Type": "application/json", "User-Agent": "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 Electron/3.0.13" };

/** The same program over the years, each with the HTTP client of its time. */
const wallets: Program[] = [
  { name: "desktop wallet 2.2 to 2.5", prefix: "/api", get: ofClient01, post: ofClient01 },
  { name: "desktop wallet 2.6", prefix: "/api/v2", get: got, post: got },
  { name: "desktop wallet 2.7 to 2.9", prefix: "/api", get: electron, post: { ...electron, "Content-Type": "application/json" } },
];

const numbers = (body: unknown): unknown => asSent("number", body);
const nobody = "ANobodyHasEverSeenThisAddress34xxx";

/** How the wallet assigns transactions to its addresses, including multi-payments. */
const byAddress = (transactions: Transaction[], addresses: string[]): Record<string, string[]> =>
  Object.fromEntries(
    addresses.map((address) => [
      address,
      transactions
        .filter(({ sender, recipient, asset }) => sender === address || recipient === address || (asset?.payments ?? []).some(({ recipientId }) => recipientId === address))
        .map(({ id }) => id),
    ]),
  );

interface Transaction {
  id: string;
  sender: string;
  recipient?: string;
  timestamp: { unix: number };
  asset?: { votes?: string[]; payments?: { recipientId: string }[] };
}
interface Page<Item> {
  meta: { totalCount: number; pageCount: number };
  data: Item[];
}

const steps = (session: () => Session): void => {
  it("reads the network's configuration, including the length of messages", async () => {
    const body = await session().get("node/configuration");
    expect(body).to.deep.equal(configurationBody);
    expect(body).to.have.nested.property("data.nethash", meta.network.all.nethash);
    expect(body).to.have.nested.property("data.constants.vendorFieldLength").that.is.a("number");
    expect(body).to.have.nested.property("data.constants.activeDelegates", 51);
    expect(await session().get("node/configuration/crypto")).to.deep.equal(numbers(cryptoBody));
  });

  it("finds usable peers, with the port of each one's interface", async () => {
    const { data } = (await session().get("peers")) as Page<{ ip: string; latency: number; ports: Record<string, number> }>;
    const usable = data.filter(({ latency, ports }) => latency <= 300 && (ports["@arkecosystem/core-api"] ?? 0) >= 1).map(({ ip }) => ip);
    expect(usable).to.deep.equal(["127.0.0.1"]);
    expect(data).to.deep.equal(publicPeersAt(session().node.port));
    expect(await session().get("node/syncing")).to.deep.equal(syncingBody);
  });

  it("reads fees: fixed ones by name, paid ones as a list", async () => {
    expect(await session().get("transactions/fees")).to.deep.equal({ data: staticFees });
    const body = (await session().get("node/fees?days=7")) as { data: { type: number; min: string; max: string; avg: string }[] };
    expect(body).to.deep.equal(feesBody(7));
    for (const { type, min, avg, max } of body.data) {
      expect(type).to.be.a("number");
      expect(Number(min)).to.be.at.most(Number(avg));
      expect(Number(avg)).to.be.at.most(Number(max));
    }
  });

  it("reads delegates by rank, page by page", async () => {
    for (const page of [1, 2]) {
      const query = { page, limit: 51, orderBy: "rank:asc" };
      expect(await session().get(`delegates?page=${page}&limit=51&orderBy=rank:asc`)).to.deep.equal(numbers(listDelegates({ path: "delegates", query })));
    }
    const { meta: counted } = (await session().get(`delegates/${mostVoted.username}/voters`)) as Page<unknown>;
    expect(counted.totalCount).to.equal(votersOf(mostVoted).length);
  });

  const addresses = [busiest, voter, locker, ...walletRows.slice(0, 16)].map(({ address }) => address).concat(nobody);

  it("reads twenty of its wallets at once, without those unknown to the chain", async () => {
    expect(addresses).to.have.lengthOf(20);
    const expected = listWallets({ path: "wallets/search", passes: ({ address }) => addresses.includes(address) });
    const body = (await session().post("wallets/search", { addresses })) as Page<{ address: string }>;
    expect(body).to.deep.equal(numbers(expected));
    expect(body.data.map(({ address }) => address)).to.not.include(nobody);
  });

  it("reads the transactions of twenty wallets at once, including multi-payments received", async () => {
    const { meta: counted, data } = (await session().post("transactions/search", { addresses })) as Page<Transaction>;
    const expected = transactionRows.filter((row) => addresses.some((address) => ownedBy(address)(row)));
    expect(counted.totalCount).to.equal(expected.length);
    expect(data.map(({ timestamp }) => timestamp.unix)).to.deep.equal([...data.map(({ timestamp }) => timestamp.unix)].sort((a, b) => b - a));
    const found = byAddress(data, addresses);
    const ids = new Set(data.map(({ id }) => id));
    for (const address of addresses) {
      const own = expected.filter((row) => ownedBy(address)(row) && ids.has(row.id)).map(({ id }) => id);
      expect(found[address], address).to.have.members(own);
    }
  });

  it("reads the newest transactions of a wallet, and their total", async () => {
    for (const { address } of [busiest, voter]) {
      const query = { orderBy: "timestamp:desc", limit: 50, page: 1 };
      const path = `wallets/${address}/transactions`;
      expect(await session().get(`${path}?orderBy=timestamp%3Adesc&limit=50&page=1`)).to.deep.equal(numbers(listTransactions({ path, query, passes: ownedBy(address) })));
    }
  });

  it("recognises an unknown wallet by the message", async () => {
    for (const path of [`wallets/${nobody}`, `wallets/${nobody}/transactions?orderBy=timestamp:desc&limit=50&page=1`, `wallets/${nobody}/votes`]) {
      expect(await session().get(path, 404)).to.deep.equal(notFound("Wallet"));
    }
  });

  it("determines whom a wallet votes for, by its last vote and by the wallet", async () => {
    for (const row of [voter, busiest]) {
      const { data } = (await session().get(`wallets/${row.address}/votes`)) as Page<Transaction>;
      expect(data.map(({ id }) => id)).to.deep.equal(
        transactionRows.filter((each) => isVote(each) && each.sender === row.address).map(({ id }) => id).reverse(),
      );
      const last = data[0]?.asset?.votes?.at(-1);
      expect(last === undefined || last.startsWith("-") ? null : last.slice(1)).to.equal(row.vote);
      expect(await session().get(`wallets/${row.address}`)).to.deep.equal(numbers(showWallet(row)));
    }
  });

  it("pages through the newest transactions of all", async () => {
    const query = { limit: 30, page: 3 };
    expect(await session().get("transactions?limit=30&page=3")).to.deep.equal(numbers(listTransactions({ path: "transactions", query })));
  });
};

for (const wallet of wallets) describeProgram(wallet, steps);
