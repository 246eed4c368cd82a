import { expect } from "chai";
import { AggregatorRegistry, Histogram, Registry } from "prom-client";
import { atOnce, type Sliced } from "../../src/async/time-slicing.js";
import type { Route } from "../../src/http/route.js";
import { createRequestDurations, durationBounds, type Durations, durationsText } from "../../src/operate/request-durations.js";
import { randomFrom } from "../follow/schedule.js";

const [name, help] = ["request_seconds", "Seconds that a request took."];
const routes = ["/wallets/{id}", "/blocks", '/a "path"\\with/{odd}\nletters'].map((path) => ({ path, versions: [2] }) as unknown as Route);

/** The same observations in ours and in prom-client's. */
const observed = (seed: number, count: number) => {
  const random = randomFrom(seed);
  const registry = new Registry();
  const histogram = new Histogram({ name, help, labelNames: ["route", "method", "status"], buckets: [...durationBounds], registers: [registry] });
  const durations = createRequestDurations();
  for (let index = 0; index < count; index++) {
    const route = routes[Math.floor(random() * 3)];
    const [method, status, seconds] = [["GET", "HEAD", "PURGE"][Math.floor(random() * 3)] ?? "", [200, 404][Math.floor(random() * 2)] ?? 0, 2 ** Math.floor(random() * 12 - 8)];
    durations.observe(route, method, status, seconds);
    histogram.observe({ route: route?.path ?? "", method: method === "PURGE" ? "other" : method, status: String(status) }, seconds);
  }
  return { durations: atOnce(durations.values()), theirs: registry.getMetricsAsJSON() };
};

/** Lines in an order that does not depend on who came first, with the bound of a bucket as the last label. */
const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "").map((line) => line.replace(/\{(le="[^"]*"),(.*)\}/, "{$2,$1}")).sort();

const slicesOf = (work: Sliced<unknown>): number => {
  let count = 0;
  while (work.next().done !== true) count++;
  return count;
};

describe("how long requests took", () => {
  it("is told as prom-client tells it, of one process and of several", async () => {
    const [one, two, none] = [observed(1, 500), observed(2, 300), observed(3, 0)];
    for (const processes of [[one], [one, two], [none], [one, none, two]]) {
      const theirs = await AggregatorRegistry.aggregate(await Promise.all(processes.map((process) => process.theirs))).metrics();
      const sent = JSON.parse(JSON.stringify(processes.map(({ durations }) => durations))) as Durations[][];
      expect(linesOf(atOnce(durationsText(name, help, sent)))).to.deep.equal(linesOf(theirs));
    }
  });

  it("is read and written a few lines at a time", () => {
    const durations = createRequestDurations();
    for (let index = 0; index < 1_000; index++) durations.observe({ path: `/${index}`, versions: [2] } as unknown as Route, "GET", 200, 1);
    expect(slicesOf(durations.values())).to.equal(1_000);
    const values = atOnce(durations.values());
    expect(slicesOf(durationsText(name, help, [values]))).to.equal(1_000);
    expect(slicesOf(durationsText(name, help, [values, values]))).to.equal(3_000);
  });
});
