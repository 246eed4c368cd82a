import { measureBehind, measureRecord, measureStorage } from "../follow/bounds.js";
import { measureLists, measurePatterns } from "../follow/deciding.js";
import { measureBackfill, measureFirst, measureRecording } from "../follow/recording.js";
import { measureHangingAfterSlow, measureHangingOrigins, measureHangingPath } from "../follow/hanging.js";
import { measureSending } from "../follow/sending.js";
import { measureSteps } from "../follow/steps.js";
import { measureStreams } from "../follow/streams.js";
import type { Row } from "../table/row.js";
import type { Measure } from "./measure.js";

/** Following: webhooks as cursors, and streams. Each step can be run by itself (`--row`). */
export const measureFollow: Measure = async (run) => {
  const rows: Row[] = [];
  const rounds = Math.min(3, run.rounds);
  const steps: Record<string, () => Promise<Row | Row[]>> = {
    lists: measureLists,
    patterns: measurePatterns,
    block: measureRecording,
    "first request": measureFirst,
    backfill: () => measureBackfill(run.quick ? 10_000 : 100_000),
    "sending 1": () => measureSending(1, rounds),
    "sending 8": () => measureSending(8, rounds),
    "sending 32": () => measureSending(32, rounds),
    "steps of a delivery": measureSteps,
    "path hangs": measureHangingPath,
    "origins hang": measureHangingOrigins,
    "origins hang, slow": measureHangingAfterSlow,
    "streams 1k": () => measureStreams([1_000]),
    ...(run.quick ? {} : { "streams 10k": () => measureStreams([10_000]) }),
    storage: measureStorage,
    "record 1": () => measureRecord(1, 300),
    "record 8": () => measureRecord(8, 220),
    memory: measureBehind,
  };
  for (const [what, step] of Object.entries(steps)) {
    if (!what.includes(run.row)) continue;
    run.say(`following: ${what}`);
    rows.push(...[await step()].flat());
  }
  return rows;
};
