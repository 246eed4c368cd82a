import { createRequire } from "node:module";
import { expect } from "chai";
import { publicPeersAt, type RunningNode, runningNode } from "./running-node.js";

const load = createRequire(import.meta.url);

interface Found {
  ip: string;
  port: number;
  [member: string]: unknown;
}
interface Discovery {
  getSeeds(): Found[];
  withVersion(range: string): Discovery;
  withLatency(most: number): Discovery;
  sortBy(field: string, direction?: string): Discovery;
  findPeers(): Promise<Found[]>;
  findPeersWithPlugin(name: string, options?: { additional?: string[] }): Promise<Found[]>;
  findPeersWithoutEstimates(): Promise<Found[]>;
}

const { PeerDiscovery } = load("@arkecosystem/peers") as { PeerDiscovery: { new: (options: { networkOrHost: string; defaultPort?: number }) => Promise<Discovery> } };
const { connect, findPeers, fetchPeerConfig } = load("client-0.1") as {
  findPeers(network: string, version: number, peers: { ip: string; port: number }[]): Promise<Found[]>;
  fetchPeerConfig(host: string): Promise<unknown>;
  connect(network: string, version: number, peers: { ip: string; port: number }[]): Promise<{ http: { host: string } }>;
};

describe("npm @arkecosystem/peers 0.3.0", () => {
  let node: RunningNode;
  /** It asks one of its seeds at random: here there is only one. */
  const discover = (): Promise<Discovery> => PeerDiscovery.new({ networkOrHost: `${node.origin}/api/peers?ip=127.0.0.1` });
  const ipsOf = (peers: Found[]): string[] => peers.map(({ ip }) => ip);
  before(async () => {
    node = await runningNode();
  });

  it("takes its seeds from the list, with the port of each one's public interface", async () => {
    const discovery = await PeerDiscovery.new({ networkOrHost: `${node.origin}/api/peers`, defaultPort: 4040 });
    expect(discovery.getSeeds()).to.deep.equal([
      { ip: "10.0.0.2", port: 4040 },
      { ip: "10.0.0.5", port: 4040 },
      { ip: "127.0.0.1", port: node.port },
      { ip: "10.0.0.3", port: 4003 },
    ]);
  });

  it("finds every public peer, whole, slowest first as is its default", async () => {
    const expected = [...publicPeersAt(node.port)].reverse();
    expect(await (await discover()).findPeers()).to.deep.equal(expected);
  });

  it("finds peers by version and latency, and sorts them", async () => {
    const discovery = await discover();
    expect(ipsOf(await discovery.withVersion(">=2.0.0").withLatency(20).sortBy("latency", "asc").findPeers())).to.deep.equal(["10.0.0.2", "10.0.0.5"]);
    expect(ipsOf(await discovery.withVersion("^1.0").withLatency(500).findPeers())).to.deep.equal(["10.0.0.3"]);
  });

  it("finds the peers with a given plugin, and its port", async () => {
    const found = await (await discover()).sortBy("latency", "asc").findPeersWithPlugin("core-api", { additional: ["version", "latency"] });
    expect(found).to.deep.equal([
      { ip: "127.0.0.1", port: node.port, version: "3.9.1", latency: 21 },
      { ip: "10.0.0.3", port: 4003, version: "1.0.3", latency: 420 },
    ]);
    expect(await (await discover()).findPeersWithPlugin("core-webhooks")).to.deep.equal([]);
  });

  it("counts this node among those whose totals are not estimates", async () => {
    const found = await (await discover()).withVersion("3.9.1").findPeersWithoutEstimates();
    expect(found).to.deep.equal([{ ip: "127.0.0.1", port: node.port }]);
    expect(node.received().map(({ url }) => url)).to.include("/api/blocks?limit=1");
  });
});

describe("npm @arkecosystem/client 0.1.25, looking for peers,", () => {
  let node: RunningNode;
  before(async () => {
    node = await runningNode();
  });

  it("finds those of the second generation on other machines, highest first, then fastest", async () => {
    const found = await findPeers("own", 2, [{ ip: "127.0.0.1", port: node.port }]);
    const expected = publicPeersAt(node.port).filter(({ ip }) => ip === "10.0.0.2" || ip === "10.0.0.5");
    expect(found).to.deep.equal(expected);
  });

  it("finds those of the first generation on other machines that are OK and of its version, and connects to the best", async () => {
    const found = await findPeers("own", 1, [{ ip: "127.0.0.1", port: node.port }]);
    const expected = publicPeersAt(node.port)
      .filter(({ ip }) => ip === "10.0.0.3")
      .map(({ latency, ...peer }) => ({ ...peer, status: "OK", delay: latency }));
    expect(found).to.deep.equal(expected);
    const client = await connect("own", 1, [{ ip: "127.0.0.1", port: node.port }]);
    expect(client.http.host).to.equal(`http://10.0.0.3:${node.port}`);
  });

  /** `connect` needs it for the second generation: it belongs to the peer protocol of its time, on ports of its own. */
  it("finds no configuration of the peer protocol here, which no public interface serves", async () => {
    expect(await fetchPeerConfig(node.origin)).to.equal(null);
  });
});
