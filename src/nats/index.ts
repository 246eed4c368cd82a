export type { NatsOptions } from "./connection.js";
export { natsMetrics, type NatsMeasured } from "./metrics.js";
export { startTipPublisher, type TipPublisher, type TipPublisherNeeds } from "./tip-publisher.js";
export { natsTip, type NatsTip } from "./tip-subscriber.js";
