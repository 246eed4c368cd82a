import { expect } from "chai";
import type { Peer } from "../../types/chain.js";
import type { TransactionData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { dataOf } from "./data-of.js";
import { type Interface, serveChain } from "./interface.js";
import { peer } from "./peer.js";
import { expectNotFound } from "./refusals.js";

const listed: Peer[] = [
  peer("10.0.0.2", { version: "2.10.0", latency: 12.6 }),
  peer("10.0.0.3", { version: "2.5.0-next.9", latency: 7, port: 4002 }),
  peer("10.0.0.4", { version: "2.5.0-next.10", latency: 7, status: 503 }),
  peer("10.0.0.5", { version: "nightly", latency: 30, os: "darwin" }),
  { ip: "2001:db8::6", port: 4001, version: "2.5.0", height: 300, status: 200, latency: 90 },
  peer("10.0.0.3", { version: "2.5.0", latency: 7, port: 4001 }),
];
const hidden = peer("10.0.0.9", { isPublic: false });
const suspended = [peer("10.9.9.9", { status: 403 })];

const places = (data: unknown): string[] => (data as Peer[]).map(({ ip, port }) => `${ip}/${port}`);

describe("peers, second generation", () => {
  let served: Interface;
  before(async () => (served = await serveChain("core3-testnet-a", { peers: { list: () => [...listed, hidden], suspended: () => suspended } })));

  const inOrder = async (query: string): Promise<string[]> => places(dataOf(await served.get(`/peers${query}`)));

  it("shows everything known about a peer", async () => {
    expect(dataOf(await served.get("/peers/10.0.0.2"))).to.deep.equal({
      ip: "10.0.0.2",
      port: 4001,
      ports: { "@arkecosystem/core-api": 4003, "@arkecosystem/core-webhooks": null },
      version: "2.10.0",
      height: 268,
      status: 200,
      os: "linux",
      latency: 13,
    });
  });

  it("fills in what the host leaves out, and finds a peer by its IPv6 address", async () => {
    const expected = { ip: "2001:db8::6", port: 4001, ports: {}, version: "2.5.0", height: 300, status: 200, os: "unknown", latency: 90 };
    for (const ip of ["2001:db8::6", "2001%3Adb8%3A%3A6"]) expect(dataOf(await served.get(`/peers/${ip}`))).to.deep.equal(expected);
  });

  it("orders by latency by default, then by address and port", async () => {
    const byLatency = ["10.0.0.3/4001", "10.0.0.3/4002", "10.0.0.4/4001", "10.0.0.2/4001", "10.0.0.5/4001", "2001:db8::6/4001"];
    expect(await inOrder("")).to.deep.equal(byLatency);
    expect(await inOrder("?orderBy=latency:asc")).to.deep.equal(byLatency);
    expect(await inOrder("?orderBy=latency:desc")).to.deep.equal([...byLatency].reverse());
  });

  it("orders by semantic version, with invalid versions first", async () => {
    const byVersion = ["10.0.0.5/4001", "10.0.0.3/4002", "10.0.0.4/4001", "10.0.0.3/4001", "2001:db8::6/4001", "10.0.0.2/4001"];
    expect(await inOrder("?orderBy=version")).to.deep.equal(byVersion);
    expect(await inOrder("?orderBy=version:desc")).to.deep.equal([...byVersion].reverse());
  });

  it("accepts every order", async () => {
    const first = async (order: string): Promise<string | undefined> => (await inOrder(`?orderBy=${order}`))[0];
    expect(await first("ip:desc")).to.equal("2001:db8::6/4001");
    expect(await first("port:desc")).to.equal("10.0.0.3/4002");
    expect(await first("height:desc")).to.equal("2001:db8::6/4001");
    expect(await first("status:desc")).to.equal("10.0.0.4/4001");
    expect(await first("os:asc")).to.equal("10.0.0.5/4001");
  });

  const filters: [query: string, passes: (peer: Peer) => boolean][] = [
    ["ip=10.0.0.3", ({ ip }) => ip === "10.0.0.3"],
    ["port=4002", ({ port }) => port === 4002],
    ["version=2.5.0", ({ version }) => version === "2.5.0"],
    ["os=linux", ({ os }) => os === "linux"],
    ["os=unknown", ({ os }) => os === undefined],
    ["status=OK", ({ status }) => status === 200],
    ["status=200", ({ status }) => status === 200],
    ["status=503", ({ status }) => status === 503],
    ["status=FORBIDDEN", () => false],
  ];
  const expectPeers = async (query: string, passes: (peer: Peer) => boolean): Promise<void> => {
    const { body } = await served.get(`/peers?${query}`);
    const expected = listed.filter(passes).map(({ ip, port }) => `${ip}/${port}`);
    expect(places((body as { data: unknown }).data), query).to.have.members(expected);
    expect(body, query).to.have.nested.property("meta.totalCount", expected.length);
  };
  for (const [query, passes] of filters) it(`filters by ${query}`, () => expectPeers(query, passes));
  it("applies each pair of filters", async () => {
    for (const [index, [first, passesFirst]] of filters.entries()) {
      for (const [second, passesSecond] of filters.slice(index + 1)) {
        if (first.split("=")[0] === second.split("=")[0]) continue;
        await expectPeers(`${first}&${second}`, (each) => passesFirst(each) && passesSecond(each));
      }
    }
  });

  it("returns each peer once across its pages", async () => {
    const seen: string[] = [];
    for (let next: string | null = "/v2/peers?limit=2"; next !== null; ) {
      const { body } = await served.get(next);
      const { meta, data } = body as { meta: { totalCount: number; next: string | null }; data: unknown };
      expect(meta.totalCount).to.equal(listed.length);
      seen.push(...places(data));
      next = meta.next?.replace("/api", "") ?? null;
    }
    expect(seen).to.have.lengthOf(listed.length);
    expect(seen).to.have.members(listed.map(({ ip, port }) => `${ip}/${port}`));
  });

  it("hides a peer that is not public", async () => {
    expect(await inOrder("?ip=10.0.0.9")).to.deep.equal([]);
    for (const ip of ["10.0.0.9", "10.0.0.77", "somewhere"]) expectNotFound(await served.get(`/peers/${ip}`), "Peer not found");
  });

  it("lists suspended peers", async () => {
    const { body } = await served.get("/peers/suspended");
    expect(places((body as { data: unknown }).data)).to.deep.equal(["10.9.9.9/4001"]);
    expect(dataOf(await served.get("/peers/suspended?status=OK"))).to.deep.equal([]);
  });
});

describe("peers of a host without any", () => {
  let served: Interface;
  before(async () => (served = await serveChain("core3-testnet-a")));

  it("are empty lists", async () => {
    expect(dataOf(await served.get("/peers"))).to.deep.equal([]);
    expect(dataOf(await served.get("/peers/suspended"))).to.deep.equal([]);
    expectNotFound(await served.get("/peers/10.0.0.2"), "Peer not found");
  });
});

describe("peers that a host reports wrongly", () => {
  let served: Interface;
  let reported: unknown;
  const errors: string[] = [];
  const warnings: string[] = [];
  before(async () => {
    const quiet = (): void => undefined;
    served = await serveChain("core3-testnet-a", {
      peers: { list: () => reported as Peer[] },
      pool: { list: () => reported as never },
      logger: { debug: quiet, info: quiet, warn: (message) => warnings.push(message), error: (message) => errors.push(message) },
    });
  });
  /** Status of a reply, and what the host's log says of it. */
  const replyTo = async (path: string, wrong: unknown): Promise<[status: number, logged: string | undefined]> => {
    [reported, errors.length] = [wrong, 0];
    return [(await served.get(path)).status, errors.map((line) => line.split("\n")[0]?.replace(/^.* failed: /, ""))[0]];
  };

  it("are left out, of which one line of the log names the first", async () => {
    const wrong: [Partial<Record<keyof Peer, unknown>>, string][] = [
      [{ latency: undefined }, "the latency of peer \"10.0.0.3\" is undefined"],
      [{ port: "4001" }, "the port of peer \"10.0.0.3\" is \"4001\""],
      [{ version: null }, "the version of peer \"10.0.0.3\" is null"],
      [{ height: 300n }, "the height of peer \"10.0.0.3\" is 300"],
      [{ latency: NaN }, "the latency of peer \"10.0.0.3\" is NaN"],
      [{ os: 5 }, "the os of peer \"10.0.0.3\" is 5"],
      [{ ports: "none" }, "the ports of peer \"10.0.0.3\" is \"none\""],
    ];
    for (const [given, fault] of wrong) {
      [reported, warnings.length] = [[peer("10.0.0.2"), { ...peer("10.0.0.3"), ...given }], 0];
      for (const path of ["/peers", "/peers?orderBy=version:desc", "/v1/peers"]) {
        const { data = [], peers = [] } = (await served.get(path)).body as Record<string, { ip: string }[] | undefined>;
        expect([...data, ...peers].map(({ ip }) => ip), path).to.deep.equal(["10.0.0.2"]);
      }
      expect([(await served.get("/peers/10.0.0.3")).status, (await served.get("/peers/10.0.0.2")).status]).to.deep.equal([404, 200]);
      expect(warnings).to.deep.equal([`1 of 2 rows of the host's peers.list() are left out: ${fault}`]);
    }
    [reported, warnings.length] = [[{ ...hidden, latency: undefined }, null], 0];
    expect((await served.get("/peers")).status).to.equal(200);
    expect(warnings).to.deep.equal(["1 of 2 rows of the host's peers.list() are left out: a peer is null"]);
  });

  it("are left out of the pool's transactions, too, and do not count", async () => {
    const sound = loadChain("core3-testnet-a").network.genesisBlock.transactions?.[0] as TransactionData;
    [reported, warnings.length] = [[{ ...sound, id: "a".repeat(64), fee: undefined }, sound, undefined, { ...sound, type: 6, version: 2, nonce: 1n, asset: {} }], 0];
    const second = (await served.get("/transactions/unconfirmed")).body as { meta: { totalCount: number }; data: { id: string }[] };
    expect([second.meta.totalCount, second.data.map(({ id }) => id)]).to.deep.equal([1, [sound.id]]);
    for (const query of ["", `?address=${String(sound.recipientId)}`]) {
      const first = (await served.get(`/v1/transactions/unconfirmed${query}`)).body as { transactions: { id: string }[] };
      expect(first.transactions.map(({ id }) => id)).to.deep.equal([sound.id]);
    }
    expect(warnings).to.deep.equal([`3 of 4 rows of the host's pool.list() are left out: unconfirmed transaction ${"a".repeat(64)}: fee is missing`]);
  });

  it("are an error, which names the method, if they are no list", async () => {
    expect(await replyTo("/peers", new Map())).to.deep.equal([500, "TypeError: the host's peers.list() did not return a list"]);
    expect(await replyTo("/transactions/unconfirmed", {})).to.deep.equal([500, "TypeError: the host's pool.list() did not return a list"]);
  });
});
