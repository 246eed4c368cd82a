import { EventEmitter } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from "prom-client";
import { connectToNode } from "../../examples/standalone/node-channel.js";
import { createWorkerMetrics } from "../../examples/standalone/worker-metrics.js";
import type { ProcessMetrics } from "../../types/node-context.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { runHost, type StartedProcess, urlIn } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";

/** Over a connection of its own, since the workers get connections in turn. */
const get = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      response.setEncoding("utf8");
      let text = "";
      response.on("data", (chunk: string) => (text += chunk)).on("end", () => resolve(text)).on("error", reject);
    }).on("error", reject).end();
  });

type Figures = ReadonlyMap<string, number>;

/** The values of counters and histograms, or of gauges, by name and labels. */
const figuresIn = (text: string, ...types: string[]): Figures => {
  const found = new Map<string, number>();
  let isWanted = false;
  for (const line of text.split("\n")) {
    const type = /^# TYPE \S+ (\w+)/.exec(line)?.[1];
    if (type !== undefined) isWanted = types.includes(type);
    else if (isWanted && !line.startsWith("#") && line !== "") found.set(line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" "))));
  }
  return found;
};

const countIn = (text: string): number => figuresIn(text, "histogram").get('portico_http_request_duration_seconds_count{route="/blocks/last",method="GET",status="200"}') ?? 0;
const answeringIn = (text: string): number | undefined => figuresIn(text, "gauge").get("portico_workers_answering");

/** What is less than before, or not there any more. */
const fallen = (before: string, after: string): string[] => {
  const now = figuresIn(after, "counter", "histogram");
  return [...figuresIn(before, "counter", "histogram")].filter(([name, value]) => (now.get(name) ?? -1) < value).map(([name]) => name);
};

describe("the metrics of npm start -- --workers", () => {
  let host: StartedProcess;
  let url: string;
  before(async () => {
    host = runHost(["--data-dir", join(temporaryFolder(), "data"), "--port", "0", "--workers", "2", "--no-forge", "--log-format", "pretty"]);
    url = urlIn(await host.line(/^Portico serves the network local at /));
  });

  const pidOf = (worker: number): number => Number(/process (\d+)$/.exec(host.lines.findLast((line) => line.startsWith(`worker ${worker} serves`)) ?? "")?.[1]);
  const scrape = (): Promise<string> => get(`${url}/metrics`);
  const askTimes = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index++) await get(`${url}/blocks/last`);
  };
  const whenCounted = (count: number): Promise<string> => until(async () => {
    const text = await scrape();
    return countIn(text) >= count ? text : undefined;
  });
  /** What is told once the worker has been replaced. */
  const afterEndOf = async (worker: number, signal: NodeJS.Signals): Promise<string> => {
    const pid = pidOf(worker);
    process.kill(pid, signal);
    await host.line(new RegExp(`^warn: worker ${worker} ended .*; starting another`));
    await until(() => Promise.resolve(pidOf(worker) === pid ? undefined : true));
    return scrape();
  };

  it("count on what a worker had counted that is killed, or stopped", async () => {
    await askTimes(10);
    const before = await whenCounted(10);
    const killed = await afterEndOf(1, "SIGKILL");
    expect(fallen(before, killed)).to.deep.equal([]);
    expect(countIn(killed)).to.equal(10);
    // What nobody has asked for since, a worker tells as it ends.
    await askTimes(6);
    const stopped = await afterEndOf(2, "SIGTERM");
    expect(fallen(killed, stopped)).to.deep.equal([]);
    expect(countIn(stopped)).to.equal(16);
    expect(answeringIn(stopped)).to.equal(2);
  });

  it("have the last figures of a worker that does not answer, and say that it does not", async () => {
    await askTimes(4);
    const before = await whenCounted(20);
    process.kill(pidOf(1), "SIGSTOP");
    try {
      // The worker that hangs gets one connection at the most.
      const late = await Promise.any([scrape(), scrape()]);
      expect(fallen(before, late)).to.deep.equal([]);
      expect([countIn(late), answeringIn(late)]).to.deep.equal([20, 1]);
    } finally {
      process.kill(pidOf(1), "SIGCONT");
    }
    expect(answeringIn(await scrape())).to.equal(2);
  });

  it("are told by a worker of its own accord, too, so that one that is killed loses little", async () => {
    const told = await new Promise<unknown>((resolve) => {
      const channel = Object.assign(new EventEmitter(), { send: resolve });
      connectToNode(channel as unknown as NodeJS.Process, 1).answerMetrics((which) => Promise.resolve([{ name: which }]));
    });
    expect(told).to.deep.equal({ metrics: [{ name: "growing" }] });
  });
});

describe("what workers have told of their metrics", () => {
  const ofProcess = async (count: number): Promise<ProcessMetrics> => {
    const registers = [new Registry()];
    new Counter({ name: "served_total", help: "h", labelNames: ["by"], registers }).inc({ by: `worker ${count % 3}` }, count);
    new Histogram({ name: "seconds", help: "h", buckets: [1, 2], registers }).observe(count / 8);
    new Gauge({ name: "open", help: "h", registers }).set(count);
    const requests = [{ labels: { route: "/blocks", method: "GET", status: "200" }, counts: [0, count], sum: count }];
    return [...((await registers[0]?.getMetricsAsJSON()) ?? []), { requests }];
  };
  const namesIn = (metrics: ProcessMetrics): unknown[] => metrics.map((metric) => ("name" in metric ? metric.name : Object.keys(metric)[0]));

  it("is one entry for all that have ended, with all that they counted, and without their gauges", async () => {
    const metrics = createWorkerMetrics<number>();
    const ended = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const worker of ended) {
      metrics.keep(worker, await ofProcess(worker));
      metrics.end(worker);
    }
    // One that never told anything.
    metrics.end(21);
    metrics.keep(22, await ofProcess(22));
    const all = metrics.besides(23, 1);
    expect(all.map(namesIn)).to.deep.equal([["served_total", "seconds", "requests"], ["portico_workers_answering"], ["served_total", "seconds", "open", "requests"]]);
    const [former = []] = structuredClone(all);
    expect(former.find((metric) => "requests" in metric)).to.deep.equal({ requests: [{ labels: { route: "/blocks", method: "GET", status: "200" }, counts: [0, 210], sum: 210 }] });
    const text = await AggregatorRegistry.aggregate([former.filter((metric) => "name" in metric)]).metrics();
    expect([0, 1, 2].map((place) => figuresIn(text, "counter").get(`served_total{by="worker ${place}"}`))).to.deep.equal([63, 70, 77]);
    expect([...figuresIn(text, "histogram")]).to.deep.equal([['seconds_bucket{le="1"}', 8], ['seconds_bucket{le="2"}', 16], ['seconds_bucket{le="+Inf"}', 20], ["seconds_sum", 26.25], ["seconds_count", 20]]);
    // What tells its counters alone keeps its gauges.
    metrics.keep(22, (await ofProcess(30)).filter((metric) => !("name" in metric && metric.name === "open")));
    const [, , later = []] = metrics.besides(23, 1);
    expect(namesIn(later)).to.deep.equal(["served_total", "seconds", "requests", "open"]);
    expect(later.find((metric) => "name" in metric && metric.name === "open")).to.have.deep.property("values", [{ labels: {}, value: 22 }]);
    expect(metrics.besides(22, 1).map(namesIn)).to.deep.equal([["served_total", "seconds", "requests"], ["portico_workers_answering"]]);
  });
});
