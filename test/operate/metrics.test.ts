import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { PorticoError } from "../../src/index.js";
import type { AccessLogEntry, NodeContext, ProcessMetrics } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { ask, parseRaw, sendRaw } from "../http/ask.js";
import { loadChain } from "../data/read.js";
import { silentLogger } from "../silent.js";
import { createNode, listenTo } from "../fixtures/node.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";

const chain = loadChain("core3-testnet-a");
const blocksUpTo = (height: number) => ({ read: (from: number, limit: number) => Promise.resolve(chain.blocks.slice(from - 1, Math.min(height, from - 1 + limit))) });

describe("the metrics", () => {
  const create = (context: Partial<NodeContext> = {}): ApiPlugin => createNode({ options: { metrics: true }, ...context });
  const listening = async (plugin: ApiPlugin): Promise<string> => (await listenTo(plugin)).url;
  /** The value of a line; undefined if there is no such line. */
  const value = (text: string, line: string): number | undefined => {
    const found = text.split("\n").find((one) => one.startsWith(`${line} `));
    return found === undefined ? undefined : Number(found.slice(line.length + 1));
  };
  const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

  it("do not count as duration what a client asked the feed to wait", async () => {
    const url = await listening(create({ blocks: blocksUpTo(9) }));
    await (await fetch(`${url}/events/feed?after=tip&wait=1`)).text();
    const line = 'portico_http_request_duration_seconds_sum{route="/events/feed",method="GET",status="200"}';
    expect(value(await scrape(url), line)).to.be.below(0.99);
  });

  it("count requests by the patterns of their routes, and replies from the cache", async () => {
    const url = await listening(create({ blocks: blocksUpTo(9) }));
    const address = chain.wallets[0]?.address ?? "";
    for (const path of ["/blocks/1", "/blocks/2", "/blocks/2", "/blocks/2", "/no/such/path", `/wallets/${address}x`, "/v1/delegates/count"]) await (await fetch(url + path)).text();
    await fetch(`${url}/blocks/1`, { method: "HEAD" });
    await fetch(`${url}/blocks/1`, { method: "PURGE" });
    const reply = await fetch(`${url}/metrics`);
    expect(reply.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    const text = await reply.text();
    const count = (labels: string): number | undefined => value(text, `portico_http_request_duration_seconds_count{${labels}}`);
    expect(count('route="/blocks/{id}",method="GET",status="200"')).to.equal(4);
    expect(value(text, 'portico_http_request_duration_seconds_bucket{route="/blocks/{id}",method="GET",status="200",le="+Inf"}')).to.equal(4);
    expect(count('route="/blocks/{id}",method="HEAD",status="200"')).to.equal(1);
    expect(count('route="(none)",method="other",status="405"') ?? count('route="(none)",method="other",status="404"')).to.equal(1);
    expect(count('route="(none)",method="GET",status="404"')).to.equal(1);
    expect(count('route="/wallets/{id}",method="GET",status="404"')).to.equal(1);
    expect(count('route="/v1/delegates/count",method="GET",status="200"')).to.equal(1);
    expect(text).to.not.include("/no/such/path").and.not.include(address);
    const [hits = 0, misses = 0] = ["hit", "miss"].map((result) => value(text, `portico_reply_cache_requests_total{result="${result}"}`));
    expect(hits).to.be.above(0);
    // The replies that can be kept: those of blocks, of the wallet that is not there, and of the first generation.
    expect(hits + misses).to.equal(7);
    // That of block 2, asked for more than once.
    expect(value(text, "portico_reply_cache_bytes")).to.be.within(1_000, 20_000);
  });

  it("tell of the chain, the store, the process and the webhooks", async () => {
    const events = new EventEmitter();
    const forgedAt = Date.parse(chain.network.milestones[0].epoch) + (chain.blocks[9]?.timestamp ?? 0) * 1000;
    const plugin = create({ events, blocks: blocksUpTo(9), clock: { now: () => forgedAt + 4_000 }, sync: { networkHeight: () => 13 } });
    const url = await listening(plugin);
    events.emit("block.applied", chain.blocks[9]);
    await plugin.settled();
    plugin.webhooks?.create({ event: "block.applied", target: "http://93.184.215.14/", conditions: [], enabled: false });
    const text = await scrape(url);
    expect(value(text, "portico_tip_height")).to.equal(10);
    expect(value(text, "portico_tip_age_seconds")).to.equal(4);
    expect(value(text, "portico_blocks_behind")).to.equal(3);
    expect(value(text, "portico_block_apply_seconds_count")).to.equal(1);
    expect(value(text, "portico_store_bytes")).to.be.above(10_000);
    expect(value(text, "portico_disk_free_bytes")).to.be.above(10_000);
    expect(value(text, "portico_streams")).to.equal(0);
    expect(value(text, "nodejs_eventloop_lag_max_seconds")).to.be.at.least(0);
    expect(value(text, 'portico_webhooks{state="disabled"}')).to.equal(1);
    expect(value(text, 'portico_webhooks{state="enabled"}')).to.equal(0);
    expect(value(text, "portico_webhook_blocks_behind")).to.equal(0);
    for (const name of ["portico_webhook_deliveries_total", "portico_webhook_delivery_seconds", "process_cpu_seconds_total", "nodejs_heap_size_used_bytes"]) {
      expect(text).to.include(`# TYPE ${name} `);
    }
  });

  it("tell of the lake where one is written: its last block, and since when nothing has come of it", async () => {
    const dir = temporaryFolder();
    const options = { metrics: true, finality: 10, lake: { dir, blocksPerFile: 20, snapshotEvery: 0, keepSnapshots: 1 } };
    let ahead = 0;
    const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead };
    const url = await listening(create({ blocks: blocksUpTo(75), options, clock }));
    const lakeHeight = async () => value(await scrape(url), "portico_lake_height");
    expect(await until(async () => ((await lakeHeight()) === 60 ? 60 : undefined))).to.equal(60);
    const age = async (): Promise<number> => value(await scrape(url), "portico_lake_success_age_seconds") ?? Infinity;
    expect(await age()).to.be.below(60);
    // Nothing is listed any more, and what stands in the manifest's place cannot be read.
    rmSync(join(dir, "manifest.json"));
    mkdirSync(join(dir, "manifest.json"));
    ahead = 3_600_000;
    // It grows with every try.
    await until(async () => ((await age()) > 3_600 ? true : undefined));
    expect(value(await scrape(url), "portico_lake_height")).to.equal(60);
    expect(await scrape(await listening(create({ blocks: blocksUpTo(9), events: new EventEmitter() })))).to.not.match(/^portico_lake/m);
  });

  it("are told without the distance to the network where the host cannot tell that, or does not answer", async () => {
    const silent = [() => Promise.reject(new Error("no peers")), () => new Promise<never>(() => undefined)];
    for (const networkHeight of silent) {
      const url = await listening(create({ events: new EventEmitter(), blocks: blocksUpTo(9), sync: { networkHeight }, options: { metrics: true, hostTimeout: 20 } }));
      const text = await scrape(url);
      expect([value(text, "portico_tip_height"), value(text, "portico_blocks_behind")]).to.deep.equal([9, undefined]);
    }
  });

  it("are one reply for all processes", async () => {
    const other = create({ blocks: blocksUpTo(5) });
    const otherUrl = await listening(other);
    await fetch(`${otherUrl}/blocks/1`);
    const url = await listening(create({ blocks: blocksUpTo(9), otherMetrics: async () => [JSON.parse(JSON.stringify(await other.metrics())) as object[]] }));
    await fetch(`${url}/blocks/1`);
    const text = await scrape(url);
    expect(value(text, 'portico_http_request_duration_seconds_count{route="/blocks/{id}",method="GET",status="200"}')).to.equal(2);
    expect(value(text, "portico_tip_height")).to.equal(9);
  });

  it("say when the process was started, of several the first", async () => {
    const earlier = { name: "process_start_time_seconds", help: "h", type: "gauge", aggregator: "min", values: [{ labels: {}, value: 1_700_000_000 }] };
    const url = await listening(create({ blocks: blocksUpTo(5) }));
    expect(value(await scrape(url), "process_start_time_seconds")).to.be.closeTo(Date.now() / 1000 - process.uptime(), 2);
    const both = await listening(create({ blocks: blocksUpTo(5), events: new EventEmitter(), otherMetrics: () => [[earlier]] }));
    expect(value(await scrape(both), "process_start_time_seconds")).to.equal(1_700_000_000);
  });

  it("can be told without gauges, and are then the same counters and histograms", async () => {
    const plugin = create({ blocks: blocksUpTo(5) });
    await listening(plugin);
    const typed = (metrics: ProcessMetrics) => metrics.flatMap((metric) => ("type" in metric && "name" in metric ? [[metric.type, metric.name]] : [Object.keys(metric)]));
    const [all, growing] = [typed(await plugin.metrics()), typed(await plugin.metrics("growing"))];
    expect(growing).to.deep.equal(all.filter(([type]) => type !== "gauge"));
    expect(growing).to.deep.include(["counter", "portico_reply_cache_requests_total"]).and.deep.include(["requests"]);
    expect(growing.length).to.be.below(all.length);
  });

  it("are added exactly, in whatever order processes are: each is a whole number of small parts", async () => {
    const plugin = create({ blocks: blocksUpTo(5) });
    const url = await listening(plugin);
    for (let index = 0; index < 5; index++) await fetch(`${url}/blocks/last`);
    interface Told {
      values?: { value: number }[];
      requests?: { sum: number }[];
    }
    const told = (await plugin.metrics("growing")) as readonly Told[];
    const figures = told.flatMap(({ values = [], requests = [] }) => [...values.map(({ value }) => value), ...requests.map(({ sum }) => sum)]);
    expect(figures.filter((figure) => !Number.isInteger(figure * 2 ** 20))).to.deep.equal([]);
    expect(figures.filter((figure) => !Number.isInteger(figure)).length).to.be.above(3);
  });

  it("tell the hook for other processes what the reply has of this one", async () => {
    let told: ProcessMetrics = [];
    const url = await listening(create({ blocks: blocksUpTo(5), otherMetrics: (own) => ((told = own), []) }));
    const text = await scrape(url);
    const cpu = told.find((metric) => "name" in metric && metric.name === "process_cpu_seconds_total") as { values: { value: number }[] } | undefined;
    expect(value(text, "process_cpu_seconds_total")).to.be.above(0).and.equal(cpu?.values[0]?.value);
  });

  it("have names that promtool finds right, and none of a gauge that reads as a counter's", async function () {
    const text = await scrape(await listening(create({ blocks: blocksUpTo(5) })));
    expect(text).to.not.match(/^# TYPE \S+_total gauge$/m);
    for (const name of ["handles", "requests", "resources"]) expect(text).to.include(`# TYPE nodejs_active_${name} gauge`);
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    if (error !== undefined) {
      console.log("      There is no promtool (Debian: prometheus): the metrics' names are not checked by it.");
      return this.skip();
    }
    expect(status, stdout + stderr).to.equal(0);
  });

  it("are off unless the host says otherwise, and can need a token", async () => {
    const off = await listening(create({ options: {} }));
    expect((await fetch(`${off}/metrics`)).status).to.equal(404);
    const url = await listening(create({ options: { metrics: { token: "let prometheus in" } } }));
    const statusWith = async (headers: Record<string, string>): Promise<number> => (await fetch(`${url}/metrics`, { headers })).status;
    expect(await statusWith({})).to.equal(401);
    expect(await statusWith({ Authorization: "Bearer let prometheus" })).to.equal(401);
    expect(await statusWith({ Authorization: "Bearer let prometheus in" })).to.equal(200);
    for (const metrics of [{ token: "short" }, { tokens: "let prometheus in" }, {}, 1]) {
      expect(() => create({ options: { metrics } as never }), JSON.stringify(metrics)).to.throw(PorticoError, "options.metrics must");
    }
  });

  it("and the access log are told of each request, and keep none from its reply", async () => {
    const entries: AccessLogEntry[] = [];
    const errors: string[] = [];
    const accessLog = (entry: AccessLogEntry): void => {
      entries.push(entry);
      throw new Error("the disk is full");
    };
    const url = await listening(create({ blocks: blocksUpTo(9), accessLog, logger: { ...silentLogger, error: (line) => errors.push(line) } }));
    const reply = await fetch(`${url}/blocks?limit=2`, { headers: { "Accept-Encoding": "identity" } });
    const bytes = (await reply.arrayBuffer()).byteLength;
    const etag = reply.headers.get("etag") ?? "";
    // Not with `fetch`, which asks for a fresh reply then.
    expect((await ask(Number(new URL(url).port), "/api/blocks?limit=2", { headers: { "If-None-Match": etag } })).status).to.equal(304);
    expect((await fetch(`${url}/blocks?limit=0`)).status).to.equal(400);
    const [first, second, third] = await until(() => Promise.resolve(entries.length >= 3 ? entries : undefined));
    expect(first).to.deep.include({ requestId: reply.headers.get("x-request-id"), method: "GET", route: "/blocks", status: 200, bytes });
    expect(first?.ms).to.be.at.least(first?.work ?? Infinity);
    expect(first?.work).to.be.above(0);
    expect(second).to.deep.include({ status: 304, bytes: 0 });
    expect(third).to.deep.include({ status: 400, route: "/blocks" });
    expect(errors).to.deep.equal(Array.from({ length: 3 }, () => "a request could not be logged: the disk is full"));
  });

  it("and the access log are told of requests that are refused before they have a route, by the ids of their replies", async () => {
    const entries: AccessLogEntry[] = [];
    const errors: string[] = [];
    const accessLog = (entry: AccessLogEntry): void => {
      entries.push(entry);
      if (entry.status === 431) throw new Error("the disk is full");
    };
    const url = await listening(create({ blocks: blocksUpTo(9), accessLog, options: { metrics: true, logClients: true }, logger: { ...silentLogger, error: (line) => errors.push(line) } }));
    const search = "POST /api/blocks/search HTTP/1.1\r\nHost: h\r\n";
    const answers = [];
    for (const request of [
      "no HTTP\r\n\r\n",
      `GET /api/blocks HTTP/1.1\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`,
      `${search}Expect: a miracle\r\nX-Request-Id: mine\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      "HEAD /api/blocks HTTP/1.1\r\nHost: h\r\nExpect: a miracle\r\nConnection: close\r\n\r\n",
      "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
      // The request that it breaks off has its route, and one line.
      `${search}Transfer-Encoding: chunked\r\nX-Request-Id: yours\r\n\r\nno length\r\n`,
    ]) answers.push(parseRaw(await sendRaw(Number(new URL(url).port), request)));
    await until(() => Promise.resolve(entries.length >= answers.length ? true : undefined));
    expect(entries.map(({ requestId, method, route, status, bytes, client }) => ({ requestId, method, route, status, bytes, client }))).to.deep.equal(
      answers.map(({ status, head, body }, index) => ({
        requestId: /^X-Request-Id: (.*)$/im.exec(head)?.[1],
        method: ["", "", "POST", "HEAD", "CONNECT", "POST"][index],
        route: index === 5 ? "/blocks/search" : "(none)",
        status,
        bytes: body.length,
        client: "127.0.0.1",
      })),
    );
    expect(entries.map(({ status }) => status)).to.deep.equal([400, 431, 417, 417, 400, 400]);
    expect([entries[2]?.requestId, entries[3]?.bytes, entries[5]?.requestId]).to.deep.equal(["mine", 0, "yours"]);
    expect(errors).to.deep.equal(["a request could not be logged: the disk is full"]);
    const text = await scrape(url);
    const count = (labels: string): number | undefined => value(text, `portico_http_request_duration_seconds_count{${labels}}`);
    expect(["other", "POST", "HEAD"].map((method) => count(`route="(none)",method="${method}",status="417"`))).to.deep.equal([undefined, 1, 1]);
    expect([count('route="(none)",method="other",status="400"'), count('route="(none)",method="other",status="431"'), count('route="/blocks/search",method="POST",status="400"')]).to.deep.equal([2, 1, 1]);
  });

  it("and the access log have one line, of the one reply, for a request whose body turns out to be none, also after the reply", async () => {
    const entries: AccessLogEntry[] = [];
    const url = await listening(create({ blocks: blocksUpTo(9), accessLog: (entry) => void entries.push(entry) }));
    const port = Number(new URL(url).port);
    const chunked = "HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    const heads = ["GET /api/blocks/last ", "GET /api/blocks/last ", "GET /api/nowhere ", "POST /api/nowhere "];
    const answers: string[] = [];
    // What needs no body may be under way by then, or be answered at once.
    for (const head of heads) answers.push(await sendRaw(port, `${head}${chunked}no length\r\n`));
    for (const rest of ["no length\r\n", ""]) {
      const client = connect(port, "127.0.0.1");
      let text = "";
      client.setEncoding("utf8").on("data", (chunk: string) => (text += chunk)).write(`POST /api/nowhere ${chunked}1\r\na\r\n`);
      await until(() => Promise.resolve(text === "" ? undefined : true));
      client.end(rest);
      await once(client, "close");
      answers.push(text);
    }
    await until(() => Promise.resolve(entries.length >= answers.length ? true : undefined));
    expect(answers.map((text) => text.split("HTTP/1.1 ").length - 1)).to.deep.equal(answers.map(() => 1));
    expect(entries.map(({ requestId, status, bytes }) => ({ requestId, status, bytes }))).to.deep.equal(
      answers.map(parseRaw).map(({ status, head, body }) => ({ requestId: /^X-Request-Id: (.*)$/im.exec(head)?.[1], status, bytes: body.length })),
    );
    expect(entries.map(({ method }) => method)).to.deep.equal([...heads.map((head) => head.split(" ")[0]), "POST", "POST"]);
    expect(entries.slice(-2).map(({ status }) => status)).to.deep.equal([404, 404]);
  });

  it("and the access log say of a client that left in the middle of its body that it left, and got nothing", async () => {
    const entries: AccessLogEntry[] = [];
    const plugin = create({ blocks: blocksUpTo(9), accessLog: (entry) => void entries.push(entry) });
    const server = await plugin.listen(0);
    const { port } = server.address() as AddressInfo;
    for (const [index, leave] of (["end", "destroy", "resetAndDestroy"] as const).entries()) {
      const client = connect(port, "127.0.0.1");
      client.on("error", () => undefined).resume();
      client.write("POST /api/blocks/search HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{");
      await once(server, "request");
      client[leave]();
      const entry = await until(() => Promise.resolve(entries[index]));
      expect([entry.route, entry.status, entry.bytes], leave).to.deep.equal(["/blocks/search", 499, 0]);
    }
    expect(value(await scrape(`http://127.0.0.1:${port}/api`), 'portico_http_request_duration_seconds_count{route="/blocks/search",method="POST",status="499"}')).to.equal(3);
  });

  it("leave clients' addresses out of the access log unless the host wants them, and take them from proxies that are trusted", async () => {
    const entries: AccessLogEntry[] = [];
    const context = { blocks: blocksUpTo(9), accessLog: (entry: AccessLogEntry) => void entries.push(entry) };
    const headers = { "X-Forwarded-For": "203.0.113.7" };
    for (const options of [{}, { logClients: true }, { logClients: true, trustedProxies: ["127.0.0.1"] }]) {
      await (await fetch(`${await listening(create({ ...context, options, events: new EventEmitter() }))}/blocks/1`, { headers })).text();
    }
    const clients = await until(() => Promise.resolve(entries.length >= 3 ? entries.map(({ client }) => client) : undefined));
    expect(clients).to.deep.equal([undefined, "127.0.0.1", "203.0.113.7"]);
  });

  it("count deliveries that are delivered, that fail, and that are given up", async () => {
    const events = new EventEmitter();
    const plugin = create({ events, blocks: blocksUpTo(9), options: { metrics: true, webhooks: { allowTargets: ["127.0.0.0/8"], schedule: [] } } });
    const url = await listening(plugin);
    const target = createServer((request, response) => void response.writeHead(request.url === "/gone" ? 500 : 204).end()).listen(0, "127.0.0.1");
    await once(target, "listening");
    try {
      for (const path of ["/", "/gone"]) plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}${path}` });
      events.emit("block.applied", chain.blocks[9]);
      const text = await until(async () => {
        const now = await scrape(url);
        return value(now, 'portico_webhook_deliveries_total{outcome="dead"}') === 1 && value(now, 'portico_webhook_deliveries_total{outcome="delivered"}') === 1 ? now : undefined;
      });
      const count = (outcome: string): number | undefined => value(text, `portico_webhook_deliveries_total{outcome="${outcome}"}`);
      expect(["delivered", "failed", "dead", "superseded"].map(count)).to.deep.equal([1, 1, 1, 0]);
      expect(value(text, "portico_webhook_delivery_seconds_count")).to.equal(2);
      expect(value(text, 'portico_webhooks{state="failing"}')).to.equal(1);
    } finally {
      target.close();
    }
  });

  it("count deliveries that are given up because their block is reverted before an attempt succeeds", async () => {
    const events = new EventEmitter();
    const plugin = create({ events, blocks: blocksUpTo(9), options: { metrics: true, webhooks: { allowTargets: ["127.0.0.0/8"], schedule: [3_600_000] } } });
    const url = await listening(plugin);
    const target = createServer((_, response) => void response.writeHead(503).end()).listen(0, "127.0.0.1");
    await once(target, "listening");
    const whenCounted = (outcome: string) => until(async () => {
      const now = await scrape(url);
      return value(now, `portico_webhook_deliveries_total{outcome="${outcome}"}`) === 1 ? now : undefined;
    });
    try {
      plugin.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` });
      events.emit("block.applied", chain.blocks[9]);
      const failed = await whenCounted("failed");
      const open = (text: string) => ["pending", "retrying"].map((state) => value(text, `portico_webhook_deliveries_open{state="${state}"}`));
      expect(open(failed)).to.deep.equal([0, 1]);
      events.emit("block.reverted", chain.blocks[9]);
      const text = await whenCounted("superseded");
      expect(["delivered", "failed", "dead"].map((outcome) => value(text, `portico_webhook_deliveries_total{outcome="${outcome}"}`))).to.deep.equal([0, 1, 0]);
    } finally {
      target.close();
    }
  });
});
