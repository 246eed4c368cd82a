export type { NatsOptions } from "./connection.js";
export { type DeliveryWorker, type DeliveryWorkerOptions, startDeliveryWorker } from "./delivery-worker.js";
export { type DispatchOptions, natsDispatch, type NatsDispatch } from "./dispatch.js";
export { natsMetrics, natsMetricsText, type NatsMeasured } from "./metrics.js";
export { startTipPublisher, type TipPublisher, type TipPublisherNeeds } from "./tip-publisher.js";
export { natsTip, type NatsTip } from "./tip-subscriber.js";
