import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect } from "chai";
import { countedBy, createClientAddress } from "../../src/http/pipeline/rate-limit.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { at, chain } from "../store/branches.js";
import { startNode } from "../fixtures/node.js";
import { ask } from "./ask.js";
import { manyThings, withThings } from "./things.js";

const from = (remoteAddress: string, forwarded?: string): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
  const request = new IncomingMessage(socket);
  Object.assign(request.headers, forwarded === undefined ? {} : { "x-forwarded-for": forwarded });
  return request;
};

describe("the rate limit", () => {
  it("counts the requests of an address, reports the remaining ones, and answers 429 after them", () =>
    withThings({ rateLimit: { perMinute: 3, exempt: [] } }, {}, async ({ port, states }) => {
      for (const [path, remaining] of [
        ["/api/things?limit=1", "2"],
        ["/api/things?limit=1", "1"],
        ["/api/nothing", "0"],
      ] as const) {
        const { headers } = await ask(port, path);
        expect(headers).to.include({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": remaining });
        expect(Number(headers["x-ratelimit-reset"])).to.be.within(1, 60);
      }
      const { opened } = states;
      for (const [path, named, version] of [
        ["/api/things?limit=1", {}, "2"],
        ["/api/both", { "API-Version": "1" }, "1"],
        ["/api/v1/old/get?name=thing001", {}, "1"],
        ["/api/both", { "API-Version": "3" }, "2"],
      ] as const) {
        const { status, json, headers } = await ask(port, path, { headers: named });
        expect([status, json]).to.deep.equal([
          429,
          { ...(version === "1" ? { success: false } : {}), statusCode: 429, error: "Too Many Requests", message: "Rate limit exceeded", ...(version === "1" ? {} : { code: "RATE_LIMITED" }) },
        ]);
        expect(headers["retry-after"]).to.match(/^([1-9]|[1-5]\d|60)$/);
        expect(headers).to.include({ "x-ratelimit-remaining": "0", "access-control-allow-origin": "*", "api-version": version });
        const byHeaders = `API-Version, Accept, ${version === "2" ? "API-Amounts, " : ""}`;
        expect(headers.vary).to.equal(`${path.includes("/v1/") ? "" : byHeaders}Accept-Encoding`);
      }
      expect(states.opened).to.equal(opened);
    }));

  it("counts work, too: a request that holds the process for long counts as many, in the same headers", () => {
    const hold = (milliseconds: number): void => {
      for (const end = performance.now() + milliseconds; performance.now() < end; );
    };
    let held = 0;
    const openState = () => {
      hold(held);
      return { things: manyThings(3), tip: { id: `tip${performance.now()}`, height: 1 } };
    };
    return withThings({ rateLimit: { perMinute: 150, exempt: [] } }, { openState, tipId: undefined }, async ({ port }) => {
      const remaining = async (): Promise<number> => Number((await ask(port, "/api/things?limit=1")).headers["x-ratelimit-remaining"]);
      const before = await remaining();
      expect(before).to.be.above(100);
      held = 350;
      const after = await remaining();
      // Three times 100 ms, and itself.
      expect(after).to.be.at.most(before - 4);
      held = 0;
      expect(await remaining()).to.be.within(after - 2, after - 1);
      let left = after;
      while (left > 12) left = await remaining();
      held = 500;
      while (left > 0) left = await remaining();
      const { status, headers } = await ask(port, "/api/things?limit=1");
      expect([status, headers["x-ratelimit-remaining"]]).to.deep.equal([429, "0"]);
    });
  });

  it("keeps nobody waiting for longer than a window where the wall clock is set back by an hour", () =>
    withThings({ rateLimit: { perMinute: 1, exempt: [] } }, {}, async ({ port }) => {
      await ask(port, "/api/things");
      const { now } = Date;
      Date.now = () => now() - 3_600_000;
      try {
        const { status, headers } = await ask(port, "/api/things");
        expect(status).to.equal(429);
        expect(Number(headers["retry-after"])).to.be.within(1, 60);
        expect(Number(headers["x-ratelimit-reset"])).to.be.within(1, 60);
      } finally {
        Date.now = now;
      }
    }));

  it("refuses no probe: who asks may share its address with clients, and would restart the node", async () => {
    const memory = createMemoryAdapter(chain.network);
    memory.apply(at(1));
    const { get } = await startNode({ network: chain.network, chain: memory, options: { rateLimit: { perMinute: 1, exempt: [] }, webhooks: false, staleAfter: false } });
    const statusOf = async (path: string): Promise<number> => {
      const { status, headers } = await get(path);
      expect(headers["retry-after"] === undefined, path).to.equal(status === 200);
      return status;
    };
    expect(await statusOf("/blockchain")).to.equal(200);
    expect(await statusOf("/blockchain")).to.equal(429);
    for (const path of ["/health/live", "/health/ready", "/v2/health/live"]) expect(await statusOf(path), path).to.equal(200);
  });

  it("counts a request once, whichever way it is answered", () =>
    withThings({ rateLimit: { perMinute: 20, exempt: [] } }, {}, async ({ port }) => {
      const { etag = "" } = (await ask(port, "/api/things")).headers;
      const ways: Record<string, string>[] = [
        {},
        { "If-None-Match": etag },
        { "If-None-Match": `W/${etag}` },
        { "If-None-Match": '"other"' },
        { "Accept-Encoding": "br" },
        { "Accept-Encoding": "br" },
        { "Accept-Encoding": "gzip;q=0.3" },
      ];
      for (const [index, headers] of ways.entries()) {
        expect((await ask(port, "/api/things", { headers })).headers["x-ratelimit-remaining"]).to.equal(String(18 - index));
      }
      await ask(port, "/api/things/nobody");
      expect((await ask(port, "/api/things/nobody")).headers["x-ratelimit-remaining"]).to.equal("10");
    }));

  it("does not count exempt addresses", () =>
    withThings({ rateLimit: { perMinute: 1, exempt: ["10.0.0.0/8", "127.0.0.1"] } }, {}, async ({ port }) => {
      for (let count = 0; count < 5; count += 1) {
        const { status, headers } = await ask(port, "/api/things?limit=1");
        expect(status).to.equal(200);
        expect(headers).not.to.have.any.keys("x-ratelimit-limit");
      }
    }));

  it("can be switched off", () =>
    withThings({ rateLimit: false }, {}, async ({ port }) => {
      for (let count = 0; count < 5; count += 1) {
        expect((await ask(port, "/api/things?limit=1")).headers).not.to.have.any.keys("x-ratelimit-limit");
      }
    }));

  it("counts by the address that a declared proxy names, and by nothing else that a client claims", () =>
    withThings({ rateLimit: { perMinute: 2, exempt: ["198.51.100.7"] }, trustedProxies: ["127.0.0.1"] }, {}, async ({ port }) => {
      const left = async (forwarded: string) =>
        (await ask(port, "/api/both", { headers: { "X-Forwarded-For": forwarded } })).headers["x-ratelimit-remaining"];
      expect(await left("203.0.113.1")).to.equal("1");
      expect(await left("203.0.113.2")).to.equal("1");
      expect(await left("198.51.100.7, 203.0.113.1")).to.equal("0");
      expect(await left("203.0.113.1, 198.51.100.7")).to.equal(undefined);
    }));

  it("ignores X-Forwarded-For if no proxy is declared", () =>
    withThings({ rateLimit: { perMinute: 9, exempt: ["198.51.100.7"] } }, {}, async ({ port }) => {
      const { headers } = await ask(port, "/api/both", { headers: { "X-Forwarded-For": "198.51.100.7" } });
      expect(headers["x-ratelimit-remaining"]).to.equal("8");
    }));

  describe("takes as the client's address", () => {
    const cases: [string, string[], string, string | undefined, string][] = [
      ["the connection's if no proxy is declared", [], "203.0.113.9", "198.51.100.1", "203.0.113.9"],
      ["the connection's if that is not a proxy's", ["10.0.0.0/8"], "203.0.113.9", "198.51.100.1", "203.0.113.9"],
      ["the last forwarded one that is not a proxy's", ["10.0.0.0/8"], "10.0.0.1", "198.51.100.1, 203.0.113.4, 10.2.3.4", "203.0.113.4"],
      ["the one right after one with an interface's name", ["10.0.0.0/8"], "10.0.0.1", "fe80::1%eth0.100, 10.2.3.4", "10.2.3.4"],
      ["the first forwarded one if all are proxies'", ["10.0.0.0/8"], "10.0.0.1", "10.9.9.9,10.8.8.8", "10.9.9.9"],
      ["the proxy's own if it forwards none", ["10.0.0.1"], "10.0.0.1", undefined, "10.0.0.1"],
      ["the one right after a text that is not an address", ["10.0.0.0/8"], "10.0.0.1", "203.0.113.4, unknown, 10.2.3.4", "10.2.3.4"],
      ["one with a port, without the port", ["10.0.0.1"], "10.0.0.1", "203.0.113.4:1234", "203.0.113.4"],
      ["an IPv6 one with a port, without the port", ["10.0.0.1"], "10.0.0.1", "[2001:db8::1]:1234", "2001:db8::1"],
      ["the IPv4 address of one mapped into IPv6", ["10.0.0.1"], "::ffff:10.0.0.1", "::ffff:203.0.113.4", "203.0.113.4"],
      ["the forwarded one if the proxy is declared as IPv4 mapped into IPv6", ["::ffff:10.0.0.0/104"], "10.0.0.1", "203.0.113.4", "203.0.113.4"],
    ];
    for (const [what, proxies, remote, forwarded, expected] of cases) {
      it(what, () => {
        expect(createClientAddress(proxies)(from(remote, forwarded))?.toString()).to.equal(expected);
      });
    }

    it("none if the connection has none", () => {
      expect(createClientAddress([])(from(""))).to.equal(undefined);
      expect(createClientAddress([])(from("fe80::1%br-lan"))).to.equal(undefined);
    });
  });

  it("counts an IPv6 /64 network as one client, and each IPv4 address as its own", () => {
    const key = (address: string): string => {
      const client = createClientAddress([])(from(address));
      return client === undefined ? "" : countedBy(client);
    };
    expect(key("2001:db8:1:2::1")).to.equal(key("2001:db8:1:2:ffff::2"));
    expect(key("2001:db8:1:2::1")).not.to.equal(key("2001:db8:1:3::1"));
    expect(key("203.0.113.1")).not.to.equal(key("203.0.113.2"));
    expect(key("::ffff:203.0.113.1")).to.equal(key("203.0.113.1"));
  });
});
