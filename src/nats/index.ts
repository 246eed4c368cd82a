export type { NatsOptions } from "./connection.js";
export { startTipPublisher, type TipPublisher, type TipPublisherNeeds } from "./tip-publisher.js";
export { natsTip } from "./tip-subscriber.js";
