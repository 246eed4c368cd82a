import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { ProcessMetrics, SyncState, WhichMetrics } from "../../types/node-context.js";
import type { Replied } from "../http/pipeline/request-context.js";
import { runSliced } from "../async/time-slicing.js";
import type { FullClock } from "../async/clock.js";
import type { HealthReports } from "./health.js";
import { addable, createRequestDurations, type Durations, durationsText, sumOf } from "./request-durations.js";

/** How long requests took, among a process's metrics: those of prom-client would be ten times as large. */
interface RequestDurations {
  requests: readonly Durations[];
}

const isDurations = (metric: object): metric is RequestDurations => "requests" in metric;

const growing: readonly unknown[] = ["counter", "histogram"];

/** Whether it only ever grows, among those of prom-client. A gauge tells of something that ends with its process. */
const isGrowing = (metric: object): boolean => "type" in metric && growing.includes(metric.type);

/** What prom-client tells of a metric, to be added to what other processes tell. */
const addableMetric = (metric: MetricObjectWithValues<MetricValue<string>>): object =>
  isGrowing(metric) ? { ...metric, values: metric.values.map((told) => ({ ...told, value: addable(told.value) })) } : metric;

interface WebhookFigures {
  byState: Readonly<Record<"enabled" | "failing" | "disabled", number>>;
  /** Deliveries of enabled ones that are not settled. */
  open: Readonly<Record<"pending" | "retrying", number>>;
  /** Blocks to the tip of the enabled one that is farthest behind. */
  blocksBehind: number;
}

interface MetricsNeeds {
  reports: Pick<HealthReports, "health" | "pace">;
  clock: FullClock;
  sync: SyncState | undefined;
  /** Folder of the store's files; undefined where there are none. */
  dataDir: string | undefined;
  /** Undefined where there are none, or another process delivers. */
  webhooks(): { standing(tip: number): Promise<WebhookFigures> } | undefined;
  /**
   * Height of the last block in the lake's files, and milliseconds since its writer last succeeded. Undefined where this process writes
   * none.
   */
  lake(): { height: number | undefined; age: number } | undefined;
}

export interface Metrics {
  readonly contentType: string;
  replied(replied: Replied): void;
  /** Adds the figures of the HTTP edge; once. */
  addEdge(edge: EdgeFigures): void;
  /** A block was written: how long that took, in seconds. */
  blockApplied(seconds: number): void;
  /** An attempt of a delivery has ended, or a delivery is given up. `seconds`: how long the attempt took. */
  deliveryEnded(outcome: string, seconds?: number): void;
  /** Metrics of this process, for another one that gathers them. */
  values(which?: WhichMetrics): Promise<ProcessMetrics>;
  /**
   * The text that Prometheus reads: of this process and others, as if they were one. `others` is told what the text has of this process.
   */
  text(others?: (own: ProcessMetrics) => MaybePromise<readonly ProcessMetrics[]>): Promise<string>;
}

type Aggregator = "sum" | "max" | "min";

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Undefined where the host cannot say: that must not hide all that this process can. */
const blocksBehind = async (sync: SyncState | undefined, height: () => number): Promise<number | undefined> => {
  try {
    return sync === undefined ? 0 : Math.max(0, (await sync.networkHeight()) - height());
  } catch {
    return undefined;
  }
};

/** A gauge by state, without values where nothing is known. */
const addStateGauge = (registry: Registry, name: string, help: string, read: () => Promise<Readonly<Record<string, number>> | undefined>): void => {
  void new Gauge({
    name,
    help,
    labelNames: ["state"],
    aggregator: "max",
    registers: [registry],
    async collect() {
      const counts = await read();
      this.reset();
      for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count);
    },
  });
};

const addGauge = (
  registry: Registry,
  { name, help, aggregator }: { name: string; help: string; aggregator: Aggregator },
  read: () => MaybePromise<number | undefined>,
): void => {
  void new Gauge({
    name,
    help,
    aggregator,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
};

/** The figures of the HTTP edge, which is made after the metrics that it counts its requests in. */
interface EdgeFigures {
  /** Replies that are being streamed. */
  streams: { readonly count: number };
  /** Bytes of the reply cache. */
  readonly cached: number;
}

const createEdgeGauges = (registry: Registry, edge: EdgeFigures): void => {
  const streams = { name: "portico_streams", help: "Open event streams, change streams and other streamed replies.", aggregator: "sum" } as const;
  addGauge(registry, streams, () => edge.streams.count);
  const help = "Size of the reply cache in bytes; at most `cacheSize` per process.";
  addGauge(registry, { name: "portico_reply_cache_bytes", help, aggregator: "sum" }, () => edge.cached);
};

const createGauges = (registry: Registry, { reports, clock, sync, dataDir, ...needs }: MetricsNeeds): void => {
  const height = (): number => reports.health().height;
  const gauge = (name: string, help: string, aggregator: Aggregator, read: () => MaybePromise<number | undefined>): void =>
    addGauge(registry, { name, help, aggregator }, read);
  let asking: Promise<WebhookFigures | undefined> | undefined;
  /** Several gauges ask at a time: the webhooks are looked at once for all. */
  const webhooks = (): Promise<WebhookFigures | undefined> =>
    (asking ??= Promise.resolve(needs.webhooks()?.standing(height())).finally(() => (asking = undefined)));
  const tipAge = (): number | undefined => {
    const pace = reports.pace();
    return pace === undefined ? undefined : (clock.now() - pace.forgedAt) / 1000;
  };
  const storeBytes = (): number | undefined =>
    dataDir === undefined ? undefined : sizeOf(join(dataDir, "chain.mdb")) + sizeOf(join(dataDir, "webhooks.mdb"));
  /** Undefined where there is no folder, as before the first start. */
  const freeBytes = (): number | undefined => {
    try {
      const { bavail, bsize } = statfsSync(dataDir ?? "");
      return bavail * bsize;
    } catch {
      return undefined;
    }
  };
  const lakeAge = (): number | undefined => {
    const age = needs.lake()?.age;
    return age === undefined ? undefined : age / 1000;
  };

  gauge("portico_tip_height", "Height of the last block.", "max", height);
  gauge("portico_tip_age_seconds", "Seconds since the last block was forged.", "max", tipAge);
  gauge("portico_blocks_behind", "Blocks by which the node is behind its network.", "max", () => blocksBehind(sync, height));
  gauge("portico_store_bytes", "Size of the store's files in bytes.", "max", storeBytes);
  gauge("portico_disk_free_bytes", "Bytes that are free on the store's disk.", "min", freeBytes);
  const farthestBehind = async (): Promise<number | undefined> => (await webhooks())?.blocksBehind;
  gauge("portico_webhook_blocks_behind", "Blocks by which the slowest enabled webhook is behind the tip.", "max", farthestBehind);
  gauge("portico_lake_height", "Height of the last block in the lake's files.", "max", () => needs.lake()?.height);
  gauge("portico_lake_success_age_seconds", "Seconds since a lake file was written or none was due.", "max", lakeAge);
  addStateGauge(registry, "portico_webhooks", "Webhooks by state: enabled, failing or disabled.", async () => (await webhooks())?.byState);
  const help = "Deliveries of enabled webhooks that wait for their first attempt (pending), or to be tried again (retrying).";
  addStateGauge(registry, "portico_webhook_deliveries_open", help, async () => (await webhooks())?.open);
};

/** By their names, Prometheus takes them for counters. Those without `_total` say the same, by type. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"] as const;

/** What prom-client tells of any process. */
const createDefaults = (register: Registry): void => {
  collectDefaultMetrics({ register });
  for (const name of misnamed) register.removeSingleMetric(name);
  // prom-client leaves it out of what is told of several processes together.
  Object.assign(register.getSingleMetric("process_start_time_seconds") ?? {}, { aggregator: "min" satisfies Aggregator });
};

const durationsName = "portico_http_request_duration_seconds";
const durationsHelp = "Seconds from a request's arrival until its reply was handed to the connection, without the feed's wait and without streams. Status 499: the client left first.";

const createDeliveries = (registry: Registry): Metrics["deliveryEnded"] => {
  const deliveries = new Counter({
    name: "portico_webhook_deliveries_total",
    help: "Webhook delivery attempts by outcome (delivered, failed), and deliveries given up (dead, superseded).",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["delivered", "failed", "dead", "superseded"]) deliveries.inc({ outcome }, 0);
  const deliveryTimes = new Histogram({
    name: "portico_webhook_delivery_seconds",
    help: "Seconds that an attempt of a webhook delivery took.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  });
  return (outcome, seconds) => {
    deliveries.inc({ outcome });
    if (seconds !== undefined) deliveryTimes.observe(seconds);
  };
};

/** Makes the metrics of a node. Every label has few values: routes are patterns, never URLs. */
export const createMetrics = (needs: MetricsNeeds): Metrics => {
  const registry = new Registry();
  createDefaults(registry);
  createGauges(registry, needs);
  const durations = createRequestDurations();
  const cache = new Counter({
    name: "portico_reply_cache_requests_total",
    help: "Lookups in the reply cache, by result: hit or miss.",
    labelNames: ["result"],
    registers: [registry],
  });
  const [hits, misses] = [cache.labels("hit"), cache.labels("miss")];
  hits.inc(0);
  misses.inc(0);
  const applies = new Histogram({
    name: "portico_block_apply_seconds",
    help: "Seconds from a block's announcement until it was written.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  /** Counted here, and told to prom-client when it is asked: an increment would look up its labels by a text. */
  const kept = { hits: 0, misses: 0 };

  const growingMetrics = (): Metric[] => registry.getMetricsAsArray().filter(isGrowing) as unknown as Metric[];
  const read = async (which: WhichMetrics | undefined): Promise<ProcessMetrics> => {
    hits.inc(kept.hits);
    misses.inc(kept.misses);
    [kept.hits, kept.misses] = [0, 0];
    const requests: RequestDurations = { requests: await runSliced(durations.values(), "cooperative") };
    // Gauges are not even read: prom-client tells the event loop's delays since it was asked for them last.
    const metrics =
      which === "growing" ? await Promise.all(growingMetrics().map((metric) => metric.get())) : await registry.getMetricsAsJSON();
    return [...metrics.map(addableMetric), requests];
  };
  let reading: Promise<unknown> = Promise.resolve();
  /** One reading after another: of two that overlap, the later could have less. */
  const values = (which?: WhichMetrics): Promise<ProcessMetrics> => {
    const own = reading.then(() => read(which));
    reading = own.catch(() => undefined);
    return own;
  };

  const textOf = async (all: readonly ProcessMetrics[]): Promise<string> => {
    const others = all.map((metrics) => metrics.filter((metric) => !isDurations(metric)));
    const requests = all.flatMap((metrics) => metrics.filter(isDurations)).map((metric) => metric.requests);
    return `${await AggregatorRegistry.aggregate(others).metrics()}${await runSliced(durationsText(durationsName, durationsHelp, requests), "cooperative")}`;
  };

  return {
    contentType: registry.contentType,
    replied: ({ request, route, status, ms, waited, isStreamed, isHit }) => {
      if (isHit !== undefined) kept[isHit ? "hits" : "misses"]++;
      // How long a stream is open is up to its client.
      if (!isStreamed) durations.observe(route, request.method ?? "", status, (ms - waited) / 1000);
    },
    blockApplied: (seconds) => applies.observe(seconds),
    addEdge: (edge) => createEdgeGauges(registry, edge),
    deliveryEnded: createDeliveries(registry),
    values,
    text: async (others) => {
      const own = await values();
      return textOf([own, ...((await others?.(own)) ?? [])]);
    },
  };
};

/**
 * Adds what a process that has ended had counted to `former`, what those before it had: one entry for `otherMetrics`, however many there
 * were. Without it, a counter of the reply for all processes would fall when one of them ends.
 */
export const withFormer = (former: ProcessMetrics, ended: ProcessMetrics): ProcessMetrics => {
  const both = [former, ended];
  const counted = AggregatorRegistry.aggregate(both.map((metrics) => metrics.filter(isGrowing)));
  const requests: RequestDurations = {
    requests: sumOf(both.flatMap((metrics) => metrics.filter(isDurations)).map((metric) => metric.requests)),
  };
  // Without functions: what is sent to other processes has none.
  return [...counted.getMetricsAsArray().map((metric) => ({ ...metric, get: undefined })), requests];
};
