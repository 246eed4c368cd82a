import type { MetricObjectWithValues, MetricValueWithName } from "prom-client";
import type { Route } from "../../http/route.js";

/** Upper bounds of the buckets, in seconds: a reply from memory takes 20 µs, one that looks at many rows a second. */
export const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Durations {
  labels: { route: string; method: string; status: string };
  /** By bucket; the last one has no bound. */
  counts: Float64Array;
  sum: number;
}

/** Methods that have a label of their own: anybody can send any word as a method. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The pattern of a route, never a URL: there are as many labels as routes. */
export const routeLabel = (route: Pick<Route, "path" | "versions"> | undefined): string => {
  if (route === undefined) return "(none)";
  return route.versions.includes(2) ? route.path || "/" : `/v1${route.path}`;
};

/**
 * The histogram of how long requests took. prom-client's own looks its labels up by a text that it composes anew each time, which would
 * cost a reply from memory a twentieth; this one finds them by the route itself, and makes prom-client's form of it when it is asked.
 */
export const createRequestDurations = (name: string, help: string) => {
  const byRoute = new Map<Route | undefined, Map<number, Map<string, Durations>>>();

  const durationsOf = (route: Route | undefined, method: string, status: number): Durations => {
    let byStatus = byRoute.get(route);
    if (byStatus === undefined) byRoute.set(route, (byStatus = new Map<number, Map<string, Durations>>()));
    let byMethod = byStatus.get(status);
    if (byMethod === undefined) byStatus.set(status, (byMethod = new Map<string, Durations>()));
    const found = byMethod.get(method);
    if (found !== undefined) return found;
    const known = methods.has(method) ? method : "other";
    const made = byMethod.get(known) ?? {
      labels: { route: routeLabel(route), method: known, status: String(status) },
      counts: new Float64Array(durationBounds.length + 1),
      sum: 0,
    };
    byMethod.set(known, made);
    return made;
  };

  const observe = (route: Route | undefined, method: string, status: number, seconds: number): void => {
    const durations = durationsOf(route, method, status);
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > (durationBounds[bucket] ?? 0)) bucket++;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.sum += seconds;
  };

  const all = (): Durations[] => [...byRoute.values()].flatMap((byStatus) => [...byStatus.values()]).flatMap((byMethod) => [...byMethod.values()]);

  const valuesOf = ({ labels, counts, sum }: Durations): MetricValueWithName<string>[] => {
    let count = 0;
    const buckets = [...durationBounds, "+Inf"].map((le, index) => {
      count += counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }];
  };

  return {
    observe,
    /** What prom-client's registry asks of a metric. */
    metric: {
      name,
      get: (): Promise<Omit<MetricObjectWithValues<MetricValueWithName<string>>, "collect">> =>
        Promise.resolve({ name, help, type: "histogram" as never, aggregator: "sum", values: all().flatMap(valuesOf) }),
    },
  };
};
