import { expect } from "chai";
import { type ClientPackage, firstClient, laterClient, secondGenerationClients } from "./clients.js";
import { mostVoted, notFound, votersOf } from "./knowledge.js";
import { createReplayer, type Replayer } from "./recorded.js";
import { type RunningNode, runningNode } from "./running-node.js";

/** What each client actually puts on the wire, which a node has to understand. */
const wire: [of: ClientPackage, get: { path: string; version?: string; type?: string }, post: { path: string; type?: string }][] = [
  [firstClient(2), { path: "/api/wallets/x", version: "2", type: "application/json" }, { path: "/api/wallets/search", type: "application/json" }],
  [laterClient("client-1.0", "1.0.5", "/api/v2"), { path: "/api/v2/wallets/x" }, { path: "/api/v2/wallets/search" }],
  [laterClient("client-1.1", "1.1.4", "/api"), { path: "/api/wallets/x" }, { path: "/api/wallets/search", type: "application/json" }],
  [laterClient("client-2.0", "2.0.0", "/api/v2"), { path: "/api/v2/wallets/x" }, { path: "/api/v2/wallets/search", type: "application/json" }],
];

describe("requests of deployed clients", () => {
  let node: RunningNode;
  let replayer: Replayer;
  before(async () => {
    node = await runningNode();
  });
  beforeEach(() => {
    replayer = createReplayer(node.origin, 1);
    node.received();
    node.connections();
  });
  afterEach(() => replayer.close());

  for (const [of, get, post] of wire) {
    it(`have the expected path, version and content type with ${of.name}`, async () => {
      const client = of.connect(node.origin);
      expect(await client.call("wallets", "get", ["x"])).to.deep.equal({ status: 404, body: notFound("Wallet") });
      expect(await client.call("wallets", "search", [{ username: "nobody at all" }])).to.have.nested.property("body.meta.totalCount", 0);
      const sent = node.received().map(({ method, url, headers }) => ({
        method,
        path: url,
        version: headers["api-version"],
        type: headers["content-type"],
      }));
      expect(sent).to.deep.equal([
        { version: undefined, type: undefined, ...get, method: "GET" },
        { type: undefined, ...post, method: "POST", version: get.version },
      ]);
    });
  }

  /** Clients that tests cannot install from a registry, by the requests that they send. */
  const elsewhere: [name: string, headers: Record<string, string>, path: string, generation: "1" | "2"][] = [
    ["npm client 0.1.9", { Accept: "application/vnd.ark.core-api.v1+json", "Content-Type": "application/json" }, "/api/delegates?limit=1", "1"],
    ["npm client 0.1.9", { Accept: "application/vnd.ark.core-api.v2+json", "Content-Type": "application/json" }, "/api/delegates?limit=1", "2"],
    ["Python client 1.0", { Accept: "*/*", "User-Agent": "python-requests/2.21.0", "Content-Type": "application/json", "API-Version": "2" }, "/api/delegates?limit=1", "2"],
    ["Python client 1.1", { Accept: "*/*", "User-Agent": "python-requests/2.22.0", "Content-Type": "application/json" }, "/api/v2/delegates?limit=1", "2"],
    ["PHP client 1.0", { "User-Agent": "GuzzleHttp/6.3.3 curl/7.58.0 PHP/7.2", "Content-Type": "application/json", "API-Version": "2" }, "/api/delegates?limit=1", "2"],
    ["Go client 0.1", { "User-Agent": "ark-go-client/1", "Accept-Encoding": "gzip", "API-Version": "1" }, "/api/delegates?limit=1", "1"],
    ["Go client 0.1", { "User-Agent": "ark-go-client/1", "Accept-Encoding": "gzip", "API-Version": "2" }, "/api/delegates?limit=1", "2"],
    ["Java client 0.1", { "User-Agent": "okhttp/3.11.0", "Accept-Encoding": "gzip", "API-Version": "2" }, "/api/delegates?limit=1", "2"],
  ];
  for (const [name, headers, path, generation] of elsewhere) {
    it(`are answered for ${name} by generation ${generation}, named by ${headers["API-Version"] === undefined ? (headers.Accept ?? path) : "API-Version"}`, async () => {
      const answer = await replayer.replay({ path, headers });
      expect(answer.status).to.equal(200);
      expect(answer.headers["api-version"]).to.equal(generation);
      if (generation === "1") expect(answer.body).to.include({ success: true }).and.to.have.property("delegates").with.lengthOf(1);
      else expect(answer.body).to.have.nested.property("meta.count", 1);
    });
  }

  it("get the balances of a delegate's voters with Python client 1.0", async () => {
    const headers = { Accept: "*/*", "Content-Type": "application/json", "API-Version": "2" };
    const { body } = await replayer.replay({ path: `/api/delegates/${mostVoted.username}/voters/balances`, headers });
    expect(body).to.deep.equal({ data: Object.fromEntries(votersOf(mostVoted).map(({ address, balance }) => [address, Number(balance)])) });
  });

  for (const of of secondGenerationClients) {
    it(`share one connection, even after errors, with ${of.name}`, async () => {
      const client = of.connect(node.origin);
      await client.call("node", "status", []);
      // Connections opened beforehand, or kept from earlier tests, are not counted.
      node.connections();
      for (let round = 0; round < 10; round++) {
        expect((await client.call("blocks", "all", [{ limit: 1 + round }])).status).to.equal(200);
        expect((await client.call("wallets", "get", [`nobody${round}`])).status).to.equal(404);
        expect((await client.call("wallets", "all", [{ limit: 1000 }])).status).to.equal(400);
        expect((await client.call("transactions", "create", [{}])).status).to.equal(422);
      }
      expect(node.connections()).to.equal(0);
    });
  }

  it("need a single connection for a hundred requests of every outcome", async () => {
    const outcomes: [path: string, status: number, method?: "GET" | "POST" | "DELETE", body?: string][] = [
      ["/api/v2/wallets?limit=100", 200],
      ["/api/v2/wallets/", 301],
      ["/api/v2/wallets?limit=0", 400],
      ["/api/v2/wallets/search", 400, "POST", "{"],
      ["/api/v2/nowhere", 404],
      ["/api/v2/wallets", 405, "DELETE"],
      ["/api/v2/transactions", 422, "POST", "{}"],
      ["/api/v3/wallets", 400],
      ["/nowhere/at/all", 404],
    ];
    for (let round = 0; round < 10; round++) {
      for (const [path, status, method = "GET", body] of outcomes) {
        const answer = await replayer.replay({ path, method, ...(body === undefined ? {} : { body }) });
        expect(answer.status, `${method} ${path}`).to.equal(status);
        expect(answer.headers.connection, `${method} ${path}`).to.not.equal("close");
        if (status >= 400) expect(answer.body, `${method} ${path}`).to.include.keys("statusCode", "error", "message", "code");
      }
    }
    expect(node.connections()).to.equal(1);
  });

  it("with too large a body are refused in JSON, and the next request is served", async () => {
    const body = JSON.stringify({ addresses: ["A".repeat(1_100_000)] });
    for (const of of secondGenerationClients.filter(({ methods }) => methods.wallets?.includes("search"))) {
      const answer = await of.connect(node.origin).call("wallets", "search", [JSON.parse(body)]);
      expect(answer, of.name).to.deep.equal({ status: 413, body: { statusCode: 413, error: "Payload Too Large", message: "The request body is too large: this route takes up to 16384 bytes.", code: "BODY_TOO_LARGE" } });
      expect(await of.connect(node.origin).call("wallets", "search", [{}]), of.name).to.have.property("status", 200);
    }
  });
});
