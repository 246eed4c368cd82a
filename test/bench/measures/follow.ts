import { measureBehind, measureStorage } from "../follow/bounds.js";
import { measureLists, measurePatterns } from "../follow/deciding.js";
import { measureBackfill, measureRecording } from "../follow/recording.js";
import { measureHanging, measureSending } from "../follow/sending.js";
import { measureStreams } from "../follow/streams.js";
import type { Row } from "../table/row.js";
import type { Measure } from "./measure.js";

/** Following: webhooks as cursors, and streams. */
export const measureFollow: Measure = async (run) => {
  const rows: Row[] = [];
  const steps: Record<string, () => Promise<Row | Row[]>> = {
    "long lists": measureLists,
    patterns: measurePatterns,
    "a full block": measureRecording,
    backfill: () => measureBackfill(run.quick ? 10_000 : 100_000),
    sending: () => measureSending(Math.min(3, run.rounds)),
    hanging: measureHanging,
    streams: () => measureStreams(run.quick ? [1_000] : [1_000, 10_000]),
    storage: measureStorage,
    memory: measureBehind,
  };
  for (const [what, step] of Object.entries(steps)) {
    run.say(`following: ${what}`);
    rows.push(...[await step()].flat());
  }
  return rows;
};
