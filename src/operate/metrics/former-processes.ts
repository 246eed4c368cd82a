import { AggregatorRegistry } from "prom-client";
import type { ProcessMetrics } from "../../../types/node-context.js";
import { isDurations, isGrowing, type RequestDurations } from "./process-metrics.js";
import { sumOf } from "./request-durations.js";

/**
 * Adds what a process that has ended had counted to `former`, what those before it had: one entry for `otherMetrics`, however many there
 * were. Without it, a counter of the reply for all processes would fall when one of them ends.
 */
export const withFormer = (former: ProcessMetrics, ended: ProcessMetrics): ProcessMetrics => {
  const both = [former, ended];
  const counted = AggregatorRegistry.aggregate(both.map((metrics) => metrics.filter(isGrowing)));
  const requests: RequestDurations = { requests: sumOf(both.flatMap((metrics) => metrics.filter(isDurations)).map((metric) => metric.requests)) };
  // Without functions: what is sent to other processes has none.
  return [...counted.getMetricsAsArray().map((metric) => ({ ...metric, get: undefined })), requests];
};
