import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { addable } from "./addable.js";
import type { Durations } from "./request-durations.js";

/** How long requests took, among a process's metrics: those of prom-client would be ten times as large. */
export interface RequestDurations {
  requests: readonly Durations[];
}

export const isDurations = (metric: object): metric is RequestDurations => "requests" in metric;

const growing: readonly unknown[] = ["counter", "histogram"];

/** Whether it only ever grows, among those of prom-client. A gauge tells of something that ends with its process. */
export const isGrowing = (metric: object): boolean => "type" in metric && growing.includes(metric.type);

/** What prom-client tells of a metric, to be added to what other processes tell. */
export const addableMetric = (metric: MetricObjectWithValues<MetricValue<string>>): object =>
  isGrowing(metric) ? { ...metric, values: metric.values.map((told) => ({ ...told, value: addable(told.value) })) } : metric;
