import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { chainNames } from "./chains.js";
import { figuresOf } from "./figures.js";
import { keepsToSchema, type Served, serveFirst } from "./first-generation.js";

interface Flat {
  [member: string]: unknown;
}

/** Both generations of one server, wherever they show the same things. */
for (const name of chainNames) {
  describe(`both generations on ${name}`, () => {
    const { delegateRows, walletRows, transactionRows, tip } = figuresOf(name);
    let served: Served;
    before(async () => (served = await serveFirst(name)));

    const second = async (path: string): Promise<Flat> => (await served.second(path)) as Flat;

    it("agree on the tip, the supply, the reward and the network", async () => {
      const { block, supply } = (await second("/blockchain")) as { block: Flat; supply: unknown };
      const configuration = (await second("/node/configuration")) as { nethash: unknown; version: unknown; constants: Flat };
      const status = await served.get("/blocks/getStatus");
      expect([status.height, status.supply]).to.deep.equal([block.height, supply]);
      expect([status.nethash, status.reward, status.epoch]).to.deep.equal([
        configuration.nethash,
        configuration.constants.reward,
        configuration.constants.epoch,
      ]);
      expect(await served.get("/blocks/getHeight")).to.deep.equal({ ...block, success: true });
      const { network } = (await served.get("/loader/autoconfigure")) as { network: Flat };
      expect([network.nethash, network.version]).to.deep.equal([configuration.nethash, configuration.version]);
      const { data } = (await (await served.ask("/v2/node/syncing")).json()) as { data: Flat };
      expect(await served.get("/loader/status/sync")).to.deep.equal({ ...data, success: true });
    });

    describe("a request that names no generation", () => {
      /** The query that each route requires. */
      const address = walletRows.find(({ vote }) => vote !== null)?.address ?? "";
      const publicKey = delegateRows[0]?.publicKey ?? "";
      const queries: Record<string, string> = {
        "/accounts": `address=${address}`,
        "/accounts/delegates": `address=${address}`,
        "/accounts/getBalance": `address=${address}`,
        "/accounts/getPublicKey": `address=${address}`,
        "/accounts/getPublickey": `address=${address}`,
        "/blocks/get": "id=1",
        "/delegates/get": `publicKey=${publicKey}`,
        "/delegates/search": "q=genesis",
        "/delegates/voters": `publicKey=${publicKey}`,
        "/delegates/forging/getForgedByAccount": `generatorPublicKey=${publicKey}`,
        "/peers/get": "ip=10.0.0.1&port=4001",
        "/transactions/get": `id=${transactionRows[0]?.id ?? ""}`,
        "/transactions/unconfirmed/get": "id=1",
      };
      const inBoth = ["/blocks", "/delegates", "/peers", "/transactions", "/transactions/unconfirmed"];
      /** What a host without a version, a pool and peers must refuse. */
      const refusing = ["/peers/get", "/peers/version", "/transactions/unconfirmed/get"];

      for (const { path } of v1Routes) {
        it(`is answered by the ${inBoth.includes(path) ? "second" : "first"} generation for ${path}`, async () => {
          const query = queries[path] === undefined ? "" : `?${queries[path]}`;
          const plain = await served.ask(path + query);
          const text = await plain.text();
          expect(plain.status, text).to.equal(200);
          expect(plain.headers.get("API-Version")).to.equal(inBoth.includes(path) ? "2" : "1");
          expect(plain.headers.get("Vary")).to.match(/API-Version, Accept/);
          const named = await served.ask(`/v1${path}${query}`);
          expect(named.headers.get("API-Version")).to.equal("1");
          const first = await named.text();
          expect((JSON.parse(first) as Flat).success).to.equal(!refusing.includes(path));
          if (!refusing.includes(path)) keepsToSchema(path, first);
          if (!inBoth.includes(path)) expect(text).to.equal(first);
        });
      }

      it("still reaches the second generation's routes with a parameter", async () => {
        const { username } = delegateRows[0] ?? { username: "" };
        for (const path of [`/delegates/${encodeURIComponent(username)}`, `/blocks/${tip.height}`, `/transactions/${transactionRows[0]?.id ?? ""}`]) {
          const response = await served.ask(path);
          expect([response.status, response.headers.get("API-Version")], path).to.deep.equal([200, "2"]);
        }
      });
    });

    it("do not mix when the version is named: a path of one is not found in the other", async () => {
      for (const ask of [() => served.ask("/v2/loader/status"), () => served.ask("/loader/status", { headers: { "API-Version": "2" } })]) {
        const response = await ask();
        expect([response.status, response.headers.get("API-Version")]).to.deep.equal([404, "2"]);
        expect(await response.json()).to.deep.equal({ statusCode: 404, error: "Not Found", message: "Not Found", code: "NOT_FOUND", docs: "/api/docs" });
      }
      const named = await served.ask("/v2/delegates/count");
      expect(await named.json()).to.deep.equal({ statusCode: 404, error: "Not Found", message: "Delegate not found", code: "DELEGATE_NOT_FOUND" });
      const unknown = await served.ask("/v1/wallets");
      expect([unknown.status, unknown.headers.get("API-Version")]).to.deep.equal([404, "1"]);
    });

    it("refuse a method that neither has, and answer HEAD", async () => {
      const posted = await served.ask("/v1/delegates/get", { method: "POST", body: "{}" });
      expect([posted.status, posted.headers.get("Allow")]).to.deep.equal([405, "GET, HEAD, OPTIONS"]);
      const head = await served.ask("/delegates/count", { method: "HEAD" });
      expect([head.status, head.headers.get("API-Version"), await head.text()]).to.deep.equal([200, "1", ""]);
      const searched = await served.ask("/delegates/search", { method: "POST", body: "{}" });
      expect([searched.status, searched.headers.get("API-Version")]).to.deep.equal([200, "2"]);
    });

    it("send the height that a reply was computed at, and a strong ETag if the tip alone determines it", async () => {
      const first = await served.ask("/v1/delegates?limit=3");
      expect(first.headers.get("X-Block-Height")).to.equal(String(tip.height));
      expect(first.headers.get("ETag")).to.match(/^"[^"]+"$/);
      expect((await served.ask("/v1/delegates?limit=3&ignored=1")).headers.get("ETag")).to.equal(first.headers.get("ETag"));
      expect((await served.ask("/v1/delegates?limit=4")).headers.get("ETag")).to.not.equal(first.headers.get("ETag"));
      expect((await served.ask("/v1/loader/status")).headers.get("ETag")).to.equal(null);
    });
  });
}

it("the first generation is documented: its paths, their parameters and their responses", async () => {
  const served = await serveFirst("core3-testnet-a");
  interface Operation {
    parameters?: { name: string; required: boolean }[];
    responses: Record<string, unknown>;
  }
  const { paths } = (await (await served.ask("/openapi.json")).json()) as { paths: Record<string, { get: Operation }> };
  expect(Object.keys(paths).filter((path) => path.startsWith("/v1/"))).to.have.members(v1Routes.map(({ path }) => `/v1${path}`));
  const taken = (path: string): string[] => (paths[path]?.get.parameters ?? []).map(({ name, required }) => (required ? `${name}!` : name));
  expect(taken("/v1/delegates/search")).to.deep.equal(["q!", "limit", "offset", "orderBy"]);
  expect(taken("/v1/peers/get")).to.deep.equal(["ip!", "port!"]);
  expect(taken("/v1/accounts/count")).to.deep.equal([]);
  expect(Object.keys(paths["/v1/delegates/getNextForgers"]?.get.responses ?? {})).to.deep.equal(["200", "400", "408", "417", "429", "431", "500", "501", "503"]);
  expect(Object.keys(paths["/v1/delegates/get"]?.get.responses ?? {})).to.deep.equal(["200", "400", "408", "417", "429", "431", "500", "503"]);
});

describe("the first generation by default", () => {
  it("answers paths that both have, and leaves to the second what only that has", async () => {
    const served = await serveFirst("core3-testnet-a", { options: { defaultVersion: 1, amounts: "string" } });
    const generation = async (path: string): Promise<unknown> => (await served.ask(path)).headers.get("API-Version");
    for (const path of ["/delegates", "/blocks", "/transactions", "/peers", "/delegates/get?username=genesis_1"]) expect(await generation(path), path).to.equal("1");
    for (const path of ["/wallets", "/delegates/genesis_1", "/blocks/last", "/node/status"]) expect(await generation(path), path).to.equal("2");
    // The form of amounts is an option of the second generation only.
    expect(await served.get("/signatures/fee")).to.deep.equal({ fee: 500_000_000, success: true });
    expect((await served.get("/accounts/getBalance?address=ANBkoGqWeTSiaEVgVzSKZd3jS7UWzv9PSo")).balance).to.be.a("string");
  });

  it("answers 503 while there is no state, except for what does not need it", async () => {
    const served = await serveFirst("core3-testnet-a", { chain: { snapshot: () => undefined } });
    const response = await served.ask("/v1/delegates/count");
    expect([response.status, response.headers.get("Retry-After")]).to.deep.equal([503, "5"]);
    expect((await served.get("/loader/autoconfigure")).success).to.equal(true);
    expect((await served.get("/blocks/getNethash")).success).to.equal(true);
    expect((await served.get("/peers")).peers).to.deep.equal([]);
  });
});
