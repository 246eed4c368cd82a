import type { Measure } from "../measure.js";
import type { Row } from "../table.js";
import { measureStreams } from "./streams.js";
import { measureBehind, measureBlock, measureDeliveries, measureFirst, measureRequest, measureStorage } from "./webhooks.js";

/** Following: webhooks and streams. Each step can be run by itself (`--row`). */
export const measureFollow: Measure = async ({ row, rounds, quick, say }) => {
  const steps: Record<string, () => Promise<Row | Row[]>> = {
    request: () => measureRequest(),
    ...Object.fromEntries([4, 60].map((paths) => [`hanging ${paths}`, () => measureRequest(paths)])),
    first: measureFirst,
    ...Object.fromEntries([1, 8, 32].map((targets) => [`deliveries ${targets}`, () => measureDeliveries(targets, Math.min(3, rounds))])),
    block: measureBlock,
    memory: measureBehind,
    storage: measureStorage,
    "streams 1k": () => measureStreams(1_000, 100),
    ...(quick ? {} : { "streams 10k": () => measureStreams(10_000, 250) }),
  };
  const rows: Row[] = [];
  for (const [what, step] of Object.entries(steps)) {
    if (!what.includes(row)) continue;
    say(`following: ${what}`);
    rows.push(...[await step()].flat());
  }
  return rows;
};
