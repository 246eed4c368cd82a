import { atOnce, type Sliced } from "../async/time-slicing.js";
import type { Route } from "../http/route.js";

/**
 * Whole numbers of 2^-20 s, about a microsecond, are added without rounding. Other sums differ by the order in which processes are added,
 * and
 * Prometheus would take one that is less by its last digit for a restart.
 */
export const addable = (value: number): number => Math.floor(value * 2 ** 20) / 2 ** 20;

/** Upper bounds of the buckets, in seconds: a reply from memory takes 20 µs, one that looks at many rows a second. */
export const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Those of one route, method and status. */
export interface Durations {
  labels: { route: string; method: string; status: string };
  /** By bucket; the last one has no bound. */
  counts: number[];
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
 * cost a reply from memory a twentieth; this one finds them by the route itself. There may be thousands of them, with 17 lines each, which
 * are written in slices: prom-client would hold the event loop for 90 ms where there are 1,500.
 */
export const createRequestDurations = () => {
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
      counts: Array.from({ length: durationBounds.length + 1 }, () => 0),
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

  /** All, as they are now. */
  function* values(): Sliced<Durations[]> {
    const found: Durations[] = [];
    for (const byStatus of byRoute.values()) {
      for (const byMethod of byStatus.values()) {
        for (const durations of byMethod.values()) found.push({ ...durations, counts: [...durations.counts], sum: addable(durations.sum) });
        yield;
      }
    }
    return found;
  }

  return { observe, values };
};

/** Those of several processes together. */
function* together(lists: readonly (readonly Durations[])[]): Sliced<Iterable<Durations>> {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const sums = new Map<string, Durations>();
  for (const { labels, counts, sum } of lists.flat()) {
    const key = `${labels.status} ${labels.method} ${labels.route}`;
    const known = sums.get(key);
    const added = { labels, counts: counts.map((count, index) => count + (known?.counts[index] ?? 0)), sum: sum + (known?.sum ?? 0) };
    sums.set(key, added);
    yield;
  }
  return sums.values();
}

/** Those of several processes together, as a list. */
export const sumOf = (lists: readonly (readonly Durations[])[]): Durations[] => [...atOnce(together(lists))];

const lower = [...durationBounds, "+Inf"].map((bound) => `,le="${bound}"} `);

const linesOf = (name: string, { labels, counts, sum }: Durations): string => {
  // What has to be escaped is escaped as in JSON.
  const about = `route=${JSON.stringify(labels.route)},method="${labels.method}",status="${labels.status}"`;
  let [lines, count] = ["", 0];
  for (const [index, end] of lower.entries()) {
    count += counts[index] ?? 0;
    lines += `${name}_bucket{${about}${end}${count}\n`;
  }
  return `${lines}${name}_sum{${about}} ${sum}\n${name}_count{${about}} ${count}\n`;
};

/** The text that Prometheus reads, of one process or of several as if they were one. */
export function* durationsText(name: string, help: string, lists: readonly (readonly Durations[])[]): Sliced<string> {
  const parts = [`# HELP ${name} ${help}\n# TYPE ${name} histogram\n`];
  for (const durations of yield* together(lists)) {
    parts.push(linesOf(name, durations));
    yield;
  }
  return parts.join("");
}
