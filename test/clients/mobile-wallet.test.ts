import { expect } from "chai";
import { asSent } from "./as-sent.js";
import { busiest, configurationBody, cryptoBody, delegateRows, feesBody, isVote, listDelegates, listTransactions, listWallets, mostVoted, notFound, ownedBy, showDelegate, showWallet, staticFees, syncingBody, transactionRows, walletRows } from "./knowledge.js";
import { axios, describeProgram, type Program } from "./program.js";
import { publicPeersAt, unconfirmed } from "./running-node.js";

const browser = { ...axios, "User-Agent": "Mozilla/5.0 (Linux; Android 8.0) AppleWebKit/537.36 Chrome/74 Mobile", Origin: "http://localhost:8080", "Accept-Encoding": "gzip, deflate" };
const headers = { ...browser, "API-Version": "2" };
const mobile: Program = { name: "mobile wallet", prefix: "/api", get: headers, post: { ...headers, "Content-Type": "application/json" } };

const numbers = (body: unknown): unknown => asSent("number", body);

interface Delegate {
  username: string;
  rank?: number;
  blocks: { produced: number };
  production: { approval: number };
}

describeProgram(mobile, (session) => {
  it("may send its requests from within a browser, with its version header", async () => {
    const asking = { Origin: "http://localhost:8080", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "api-version,content-type" };
    const { status, headers: answered } = await session().replay({ method: "OPTIONS", path: "/api/transactions", headers: asking });
    expect(status).to.be.within(200, 204);
    expect(answered["access-control-allow-origin"]).to.be.oneOf(["*", asking.Origin]);
    expect(String(answered["access-control-allow-methods"]).split(",").map((each) => each.trim())).to.include("POST");
    const allowed = String(answered["access-control-allow-headers"]).toLowerCase().split(/, */);
    expect(allowed).to.include.members(["api-version", "content-type"]);
    const { headers: read } = await session().replay({ path: "/api/delegates?limit=1", headers });
    expect(read["access-control-allow-origin"]).to.be.oneOf(["*", asking.Origin]);
  });

  it("finds peers with their heights, and asks one whether it is in sync", async () => {
    const seeds = await session().replay({ path: "/api/peers", headers: browser });
    expect(seeds.body).to.have.deep.property("data", publicPeersAt(session().node.port));
    expect(await session().get("peers")).to.have.deep.property("data", publicPeersAt(session().node.port));
    expect(await session().get("peers/127.0.0.1")).to.deep.equal({ data: publicPeersAt(session().node.port).at(-2) });
    expect(await session().get("node/syncing")).to.deep.equal(syncingBody);
  });

  it("reads the configuration and the parameters for signing", async () => {
    const body = await session().get("node/configuration");
    expect(body).to.deep.equal(configurationBody);
    expect(body).to.have.nested.property("data.constants.aip11", true);
    expect(await session().get("node/configuration/crypto")).to.deep.equal(numbers(cryptoBody));
  });

  it("reads fees, with the version in a header and in the path", async () => {
    expect(await session().get("transactions/fees")).to.deep.equal({ data: staticFees });
    const { body } = await session().replay({ path: "/api/v2/node/fees?days=7", headers: browser });
    expect(body).to.deep.equal(feesBody(7));
  });

  it("reads all delegates, page by page", async () => {
    const seen: Delegate[] = [];
    for (let page = 1; page <= Math.ceil(delegateRows.length / 51); page++) {
      const body = (await session().get(`delegates?limit=51&page=${page}`)) as { data: Delegate[]; meta: { totalCount: number } };
      expect(body).to.deep.equal(numbers(listDelegates({ path: "delegates", query: { limit: 51, page } })));
      expect(body.meta.totalCount).to.equal(delegateRows.length);
      seen.push(...body.data);
    }
    expect(new Set(seen.map(({ username }) => username))).to.have.property("size", delegateRows.length);
    for (const { blocks, production } of seen) expect([blocks.produced, production.approval]).to.satisfy((both: unknown[]) => both.every((each) => typeof each === "number"));
  });

  it("reads a wallet, with the nonce to count on from, and its transactions", async () => {
    const path = `wallets/${busiest.address}`;
    const body = await session().get(path);
    expect(body).to.deep.equal(numbers(showWallet(busiest)));
    expect(body).to.have.nested.property("data.nonce", busiest.nonce);
    const query = { orderBy: "timestamp:desc" };
    expect(await session().get(`${path}/transactions?orderBy=timestamp:desc`)).to.deep.equal(
      numbers(listTransactions({ path: `${path}/transactions`, query, passes: ownedBy(busiest.address) })),
    );
  });

  it("follows a wallet's last vote to its delegate", async () => {
    const voters = walletRows.filter(({ vote, address }) => vote !== null && transactionRows.some((row) => isVote(row) && row.sender === address)).slice(0, 20);
    for (const { address, vote } of voters) {
      const { data } = (await session().get(`wallets/${address}/votes`)) as { data: { asset: { votes: string[] } }[] };
      // It reads the first of a switch's two votes, and so takes a switch for an unvote: its own bug.
      expect(data[0]?.asset.votes.at(-1)).to.equal(`+${String(vote)}`);
      const delegate = delegateRows.find(({ publicKey }) => publicKey === vote) ?? mostVoted;
      expect(await session().get(`delegates/${String(vote)}`)).to.deep.equal(numbers(showDelegate(delegate)));
    }
    expect(voters).to.have.lengthOf(20);
  });

  it("recognises an unknown delegate by the message", async () => {
    expect(await session().get("delegates/nobody", 404)).to.deep.equal(notFound("Delegate"));
  });

  it("shows the richest wallets", async () => {
    const { body } = await session().replay({ path: "/api/v2/wallets/top?limit=50", headers: browser });
    expect(body).to.deep.equal(numbers(listWallets({ path: "wallets/top", query: { limit: 50 } })));
  });

  it("sends a transaction, and counts one that the pool already holds as sent", async () => {
    const [held] = unconfirmed;
    const sent = { ...held, id: "7".repeat(64), address: busiest.address, senderId: busiest.address, signSignature: null };
    const isSent = (body: unknown): boolean => {
      const { data, errors } = body as { data: { invalid: string[] }; errors?: Record<string, { type: string }[]> };
      const isDuplicate = Object.values(errors ?? {}).some((all) => all.some(({ type }) => type === "ERR_DUPLICATE"));
      return isDuplicate || (data.invalid.length === 0 && errors === undefined);
    };
    try {
      const first = await session().post("transactions", { transactions: [sent] });
      expect(first).to.deep.equal({ data: { accept: [sent.id], broadcast: [sent.id], excess: [], invalid: [] } });
      expect(isSent(first)).to.equal(true);
      expect(isSent(await session().post("transactions", { transactions: [sent] }))).to.equal(true);
      expect(isSent(await session().post("transactions", { transactions: [{ ...sent, id: "8".repeat(64), fee: 0 }] }))).to.equal(false);
    } finally {
      session().node.pool.clear();
    }
  });
});
