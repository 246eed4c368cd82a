import { measureDelivering } from "../webhooks/delivering.js";
import { measureIsolation } from "../webhooks/isolation.js";
import { measureMatching } from "../webhooks/matching.js";
import type { Measure } from "./measure.js";

/** The webhook engine, in this process. */
export const measureWebhooks: Measure = async (run) => {
  run.say("webhooks: matching");
  const matching = measureMatching(run.slice);
  run.say("webhooks: delivering");
  const delivering = await measureDelivering(Math.min(3, run.rounds));
  run.say("webhooks: a healthy target beside hanging ones");
  return [...matching, ...delivering, ...(await measureIsolation())];
};
