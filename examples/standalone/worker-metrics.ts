import { withFormer } from "../../src/operate/metrics.js";
import type { ProcessMetrics } from "../../types/node-context.js";

const nameOf = (metric: object): unknown => ("name" in metric ? metric.name : undefined);

/**
 * What workers have told of their metrics last. No counter of what is made of it falls: of a worker that is late its last figures are used,
 * and what one that has ended had counted stays.
 */
export const createWorkerMetrics = <W>() => {
  const last = new Map<W, ProcessMetrics>();
  let former: ProcessMetrics = [];

  /** `portico_workers_answering`, as one process's metrics. */
  const answering = (count: number): ProcessMetrics => [
    {
      name: "portico_workers_answering",
      help: "Workers that reported their metrics in time; for the others, the last report is used.",
      type: "gauge",
      aggregator: "max",
      values: [{ labels: {}, value: count }],
    },
  ];

  return {
    /** Those that are not among `metrics` stay as they were: gauges, where a worker tells only what grows. */
    keep: (worker: W, metrics: ProcessMetrics): void => {
      const names = new Set(metrics.map(nameOf));
      last.set(worker, [...metrics, ...(last.get(worker) ?? []).filter((metric) => !names.has(nameOf(metric)))]);
    },
    /** The worker tells nothing any more. */
    end: (worker: W): void => {
      former = withFormer(former, last.get(worker) ?? []);
      last.delete(worker);
    },
    /** All but those of one worker, of which `answered` have told them just now. */
    besides: (worker: W, answered: number): ProcessMetrics[] => [former, answering(answered), ...[...last].filter(([other]) => other !== worker).map(([, metrics]) => metrics)],
  };
};
