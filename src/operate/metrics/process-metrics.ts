import type { Durations } from "./request-durations.js";

/** How long requests took, among a process's metrics: those of prom-client would be ten times as large. */
export interface RequestDurations {
  requests: readonly Durations[];
}

export const isDurations = (metric: object): metric is RequestDurations => "requests" in metric;
