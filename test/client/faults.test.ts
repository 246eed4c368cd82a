import { expect } from "chai";
import { type Client, type ClientOptions, createClient, PorticoClientError, TransportError } from "../../src/client/index.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import type { StartedNode } from "../fixtures/node.js";
import { startStoredNode } from "../fixtures/stored-chain.js";
import { randomFrom } from "../follow/schedule.js";
import { localTargets } from "../webhooks/stage.js";
import { type Fault, type FaultyProxy, startProxy } from "./faulty-proxy.js";

const token = "the-operator's-token";

/** What a promise is rejected with. */
const errorOf = (promise: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(promise).then(
    () => expect.fail("it was fulfilled"),
    (error: unknown) => error as Error,
  );

describe("a client against faults", () => {
  let node: StartedNode;
  let proxy: FaultyProxy;
  const clientOf = (options: ClientOptions = {}): Client => createClient(proxy.url, { token, ...options });

  before(async () => {
    node = await startStoredNode("core3-testnet-a", { options: { rateLimit: false, staleAfter: false, webhooks: { tokens: [token], allowTargets: localTargets } } });
  });
  beforeEach(async () => {
    proxy = await startProxy(node.port);
  });

  it("gives no wrong result, sends no POST twice, and waits no longer than it may", async () => {
    const random = randomFrom(seedOr(7));
    const faults: Fault[] = ["refuse", "cut head", "cut body", "slow", "page", "hang", 408, 429, 502, 503, 504, "none", "none", "none", "none", "none"];
    proxy.choose = () => faults[Math.floor(random() * faults.length)]!;
    const direct = createClient(node.url, { token });
    // A machine that is busy answers few at a time, and late.
    const [budget, together] = isLong ? [600, 15] : [4_000, 5];
    const client = clientOf({ timeout: budget });
    const height = (await direct.blockchain.get()).block.height;
    const [supply, created] = [(await direct.blockchain.get()).supply, [] as string[]];
    const calls: ((place: number) => Promise<unknown>)[] = [
      async (place) => expect((await client.blocks.get(1 + (place % height))).height).to.equal(1 + (place % height)),
      async () => expect((await client.blockchain.get()).supply).to.equal(supply),
      async (place) => expect((await client.transactions.list({ limit: 1 + (place % 9) })).data).to.have.length(1 + (place % 9)),
      async (place) => expect(await client.wallets.find(`nobody-${place}`)).to.equal(undefined),
      async (place) => {
        created.push(`made ${place}`);
        await client.webhooks.create({ event: "peer.added", target: "http://127.0.0.1:1", description: `made ${place}` });
      },
    ];
    let [failed, longest] = [0, 0];
    const attempts = count(60, 10_000);
    for (let place = 0; place < attempts; place += together) {
      await Promise.all(
        Array.from({ length: together }, async (_, more) => {
          const began = performance.now();
          try {
            await calls[(place + more) % calls.length]!(place + more);
          } catch (error) {
            if (!(error instanceof PorticoClientError) && !(error instanceof TransportError)) throw error;
            failed++;
          }
          longest = Math.max(longest, performance.now() - began);
        }),
      );
    }
    expect(failed).to.be.within(1, attempts - 1);
    expect(longest).to.be.lessThan(budget + 5_000);
    const made: string[] = [];
    for await (const { description } of direct.webhooks.list()) made.push(description);
    expect(made.length).to.equal(new Set(made).size);
    expect(proxy.arrived.filter((name) => name.startsWith("POST"))).to.have.length(created.length);
  });

  it("retries a GET as often as it may, and nothing else without a key", async () => {
    proxy.choose = () => 503;
    const client = clientOf({ retries: 2 });
    expect(await errorOf(client.blockchain.get())).to.be.instanceOf(TransportError).with.property("status", 503);
    expect(proxy.arrived).to.have.length(3);
    await errorOf(client.webhooks.create({ event: "peer.added", target: "http://127.0.0.1:1" }));
    expect(proxy.arrived).to.have.length(4);
    let cut = 0;
    proxy.choose = () => (cut++ === 0 ? "cut head" : "none");
    const { id } = await client.webhooks.create({ event: "peer.added", target: "http://127.0.0.1:1", tags: ["once"] }, { idempotencyKey: "a key" });
    expect(proxy.reached).to.have.length(2);
    expect((await client.webhooks.list({ tag: "once" })).data.map((webhook) => webhook.id)).to.deep.equal([id]);
  });

  it("does not wait for a node that asks for more time than there is, and else waits so long", async () => {
    proxy.choose = () => "later";
    expect(await errorOf(clientOf().blockchain.get({}, { timeout: 900 }))).to.be.instanceOf(TransportError).with.property("retryAfter", 1);
    expect(proxy.arrived).to.have.length(1);
    const began = performance.now();
    proxy.choose = () => (proxy.arrived.length === 2 ? "later" : "none");
    await clientOf().blockchain.get();
    expect(performance.now() - began).to.be.at.least(1_000);
  });

  it("tells a node's error from what is none", async () => {
    const client = clientOf();
    const refused = (await errorOf(client.wallets.list({ limit: 0 }))) as PorticoClientError;
    expect(refused).to.be.instanceOf(PorticoClientError).that.deep.include({ code: "BAD_REQUEST", status: 400, validation: { source: "query", keys: ["limit"] } });
    expect(refused.requestId).to.match(/\S/);
    expect(await errorOf(client.wallets.get("nobody"))).to.include({ code: "WALLET_NOT_FOUND", message: "Wallet not found" });
    expect(await errorOf(createClient(`${node.origin}/api/nowhere`).wallets.find("nobody"))).to.include({ code: "NOT_FOUND" });
    expect(await errorOf(createClient(node.origin, { token: "wrong" }).webhooks.list())).to.include({ code: "UNAUTHORIZED" });
    for (const fault of ["page", "cut body", 404, 500] as const) {
      proxy.choose = () => fault;
      expect(await errorOf(clientOf({ retries: 0 }).wallets.find("nobody")), String(fault)).to.be.instanceOf(TransportError);
    }
    const nowhere = createClient("http://127.0.0.1:1", { retries: 0 });
    expect(await errorOf(nowhere.node.status())).to.be.instanceOf(TransportError).with.property("message").that.matches(/ECONNREFUSED|bad port/);
  });

  it("ends at once when its signal aborts, with the signal's reason", async () => {
    proxy.choose = () => "hang";
    const reason = new Error("enough");
    const leaving = new AbortController();
    const error = errorOf(clientOf().blockchain.get({}, { signal: leaving.signal }));
    leaving.abort(reason);
    expect(await error).to.equal(reason);
    expect(await errorOf(clientOf().blockchain.get({}, { signal: AbortSignal.abort(reason) }))).to.equal(reason);
  });

  it("asks the next of several nodes after a failure, and those that work from then on", async () => {
    for (const fault of ["refuse", "page", "cut body", 503] as const) {
      const bad = await startProxy(node.port);
      bad.choose = () => fault;
      const client = createClient([bad.url, proxy.url]);
      for (let i = 0; i < 5; i++) await client.blockchain.get();
      expect(bad.arrived, String(fault)).to.have.length(1);
    }
    const hanging = await startProxy(node.port);
    hanging.choose = () => "hang";
    const client = createClient([hanging.url, proxy.url], { timeout: 6_000 });
    await client.blockchain.get();
    expect(hanging.arrived).to.have.length(1);
  });

  it("asks the quickest of several nodes", async () => {
    const slow = await startProxy(node.port);
    slow.choose = () => "slow";
    const client = createClient([slow.url, proxy.url]);
    for (let i = 0; i < 12; i++) await client.blockchain.get();
    expect(slow.arrived.length).to.be.lessThan(proxy.arrived.length);
  });

  it("has hooks before and after each attempt, and a fetch of one's own", async () => {
    const seen: string[] = [];
    proxy.choose = () => (proxy.arrived.length === 1 ? 502 : "none");
    const client = clientOf({
      fetch: (...request) => {
        seen.push("fetch");
        return fetch(...request);
      },
      onRequest: ({ method, url, headers }) => {
        headers.set("x-trace", "1");
        seen.push(`${method} ${new URL(url).pathname}`);
      },
      onResponse: ({ status }) => seen.push(String(status)),
    });
    await client.blockchain.get();
    const once = (status: string) => ["GET /api/v2/blockchain", "fetch", status];
    expect(seen).to.deep.equal([...once("502"), ...once("200")]);
  });

  it("rejects a statement that was cut off", async () => {
    const [wallet] = (await clientOf().wallets.top({ limit: 1 })).data;
    const read = async (): Promise<number> => {
      let rows = 0;
      for await (const _row of clientOf({ retries: 0 }).wallets.statement(wallet!.address)) rows++;
      return rows;
    };
    expect(await read()).to.be.greaterThan(1);
    proxy.choose = () => "cut body";
    expect(await errorOf(read())).to.be.instanceOf(TransportError);
  });
});
