import { expect } from "chai";
import type { Peer } from "../../../types/chain.js";
import { type Served, serveFirst } from "../../e2e/first-generation.js";
import { peer } from "../../e2e/peer.js";

const listed: Peer[] = [
  peer("10.0.0.2", { version: "2.10.0", latency: 12.6, height: 7 }),
  peer("10.0.0.3", { version: "2.5.0-next.9", latency: 7, port: 4002 }),
  peer("10.0.0.4", { version: "2.5.0-next.10", latency: 7, status: 503 }),
  peer("10.0.0.5", { latency: 30, os: "darwin" }),
  { ip: "2001:db8::6", port: 4001, version: "2.5.0", height: 300, status: 200, latency: 90 },
  peer("10.0.0.3", { version: "2.5.0", latency: 7 }),
];
const hidden = peer("10.0.0.9", { isPublic: false });

const shown = {
  ip: "10.0.0.2",
  port: 4001,
  ports: { "@arkecosystem/core-api": 4003, "@arkecosystem/core-webhooks": null },
  version: "2.10.0",
  height: 7,
  status: "OK",
  os: "linux",
  delay: 13,
};

describe("peers, first generation", () => {
  let served: Served;
  before(async () => {
    served = await serveFirst("core3-testnet-a", { peers: { list: () => [...listed, hidden] }, node: { version: "2.4.15" } });
  });
  after(() => served.stop());

  const places = async (query: string): Promise<string[]> => {
    const { peers } = await served.get(`/peers?${query}`);
    return (peers as Peer[]).map(({ ip, port }) => `${ip.slice(-1)}/${port}`);
  };

  describe("GET /peers", () => {
    it("shows everything known about them, fastest first", async () => {
      const { peers, totalCount } = await served.get("/peers");
      expect(totalCount).to.equal(6);
      expect((peers as unknown[])[3]).to.deep.equal(shown);
      expect((peers as unknown[])[2]).to.deep.include({ ip: "10.0.0.4", status: "503" });
      expect((peers as unknown[])[5]).to.deep.equal({
        ip: "2001:db8::6",
        port: 4001,
        ports: {},
        version: "2.5.0",
        height: 300,
        status: "OK",
        os: "unknown",
        delay: 90,
      });
      expect(await places("")).to.deep.equal(["3/4001", "3/4002", "4/4001", "2/4001", "5/4001", "6/4001"]);
    });

    for (const [query, expected] of [
      ["limit=2", ["3/4001", "3/4002"]],
      ["limit=2&offset=2", ["4/4001", "2/4001"]],
      ["offset=5&limit=0", ["6/4001"]],
      ["offset=6", []],
      ["port=4002", ["3/4002"]],
      ["os=darwin", ["5/4001"]],
      ["status=OK", ["3/4001", "3/4002", "2/4001", "5/4001", "6/4001"]],
      ["status=200&os=darwin", ["5/4001"]],
      ["status=503", ["4/4001"]],
      ["version=2.5.0", ["3/4001", "6/4001"]],
      ["ip=10.0.0.3", ["3/4001", "3/4002"]],
      ["ip=10.0.0.9", []],
      ["orderBy=version:desc", ["2/4001", "6/4001", "3/4001", "4/4001", "3/4002", "5/4001"]],
      ["orderBy=port:desc&limit=2", ["3/4002", "6/4001"]],
      ["orderBy=delay:desc&limit=1", ["6/4001"]],
      ["orderBy=latency&limit=1", ["3/4001"]],
      ["orderBy=status:DESC&limit=1", ["4/4001"]],
      ["orderBy=os&limit=1", ["5/4001"]],
      ["orderBy=height:asc&limit=1", ["2/4001"]],
      ["orderBy=ip:asc&limit=1", ["2/4001"]],
      ["shared=true&state=2&limit=1", ["3/4001"]],
    ] as const) {
      it(`applies ${query}`, async () => {
        expect(await places(query)).to.deep.equal(expected);
      });
    }

    for (const [query, error] of [
      ["limit=101", '"limit" must be <= 100'],
      ["limit=invalid", '"limit" must be integer'],
      ["offset=-1", '"offset" must be >= 0'],
      ["port=65536", '"port" must be <= 65535'],
      ["orderBy=foo", '"orderBy" must be one of ip, port, version, height, status, os, delay, latency, each alone or with :asc or :desc'],
    ] as const) {
      it(`refuses ${query}`, async () => {
        expect(await served.refusal(`/peers?${query}`)).to.equal(error);
      });
    }
  });

  describe("GET /peers/get", () => {
    it("shows one by address and port", async () => {
      expect(await served.get("/peers/get?ip=10.0.0.2&port=4001")).to.deep.equal({ peer: shown, success: true });
      expect((await served.get("/peers/get?ip=10.0.0.3&port=4002")).peer).to.deep.include({ version: "2.5.0-next.9" });
      expect((await served.get("/peers/get?ip=10.0.0.3&port=4001")).peer).to.deep.include({ version: "2.5.0" });
      expect((await served.get("/peers/get?ip=2001:db8::6&port=4001")).peer).to.deep.include({ height: 300 });
    });

    it("names a peer that does not exist", async () => {
      for (const place of ["99.99.99.99:4002", "10.0.0.2:4002", "10.0.0.9:4001"]) {
        const [ip = "", port = ""] = place.split(":");
        expect(await served.refusal(`/peers/get?ip=${ip}&port=${port}`)).to.equal(`Peer ${place} not found`);
      }
    });

    it("refuses a missing or malformed address or port", async () => {
      expect(await served.refusal("/peers/get?ip=127.0.0.1")).to.equal('"port" is required');
      expect(await served.refusal("/peers/get?port=4002")).to.equal('"ip" is required');
      expect(await served.refusal("/peers/get?ip=nonsense&port=4002")).to.equal('"ip" must be an IP address');
      expect(await served.refusal("/peers/get?ip=10.0.0.2&port=x")).to.equal('"port" must be integer');
    });
  });

  it("include the host's own version at GET /peers/version", async () => {
    expect(await served.get("/peers/version")).to.deep.equal({ version: "2.4.15", success: true });
  });

  it("are an empty list, without a made-up version, if the host provides neither", async () => {
    const lonely = await serveFirst("core3-testnet-a");
    expect(await lonely.get("/peers")).to.deep.equal({ peers: [], totalCount: 0, success: true });
    expect(await lonely.refusal("/peers/get?ip=10.0.0.2&port=4001")).to.equal("Peer 10.0.0.2:4001 not found");
    expect(await lonely.refusal("/peers/version")).to.equal("This node does not report its version.");
    await lonely.stop();
  });
});
