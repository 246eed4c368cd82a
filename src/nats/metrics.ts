import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { ProcessMetrics } from "../../types/node-context.js";
import type { DeliveryWorker } from "./delivery-worker.js";
import type { NatsDispatch } from "./dispatch.js";
import type { TipPublisher } from "./tip-publisher.js";
import type { NatsTip } from "./tip-subscriber.js";

/** What of NATS this process has. */
export interface NatsMeasured {
  publisher?: Pick<TipPublisher, "published" | "problem"> | undefined;
  /** Of a replica. */
  tip?: Pick<NatsTip, "received" | "isConnected"> | undefined;
  dispatch?: Pick<NatsDispatch, "counts" | "workers"> | undefined;
  worker?: Pick<DeliveryWorker, "sent"> | undefined;
}

const ofPublisher = (registers: Registry[], publisher: NonNullable<NatsMeasured["publisher"]>): void => {
  new Counter({ name: "portico_nats_changes_published_total", help: "Changes of the chain that were published for replicas.", registers }).inc(publisher.published());
};

const ofTip = (registers: Registry[], tip: NonNullable<NatsMeasured["tip"]>): void => {
  new Counter({ name: "portico_nats_changes_received_total", help: "Changes of the node's chain that have come to this replica over NATS.", registers }).inc(tip.received());
  new Gauge({ name: "portico_nats_changes_connected", help: "Whether this replica reads the changes from NATS: 1, or 0 while it cannot and asks the node.", registers, aggregator: "max" }).set(tip.isConnected() ? 1 : 0);
};

const ofDispatch = (registers: Registry[], dispatch: NonNullable<NatsMeasured["dispatch"]>): void => {
  const { answered, repeated, here } = dispatch.counts();
  const sent = new Counter({ name: "portico_nats_deliveries_total", help: "Attempts of webhook deliveries, by who has sent them: a worker, or the node itself.", labelNames: ["by"], registers });
  sent.inc({ by: "worker" }, answered);
  sent.inc({ by: "node" }, here);
  new Counter({ name: "portico_nats_deliveries_repeated_total", help: "Attempts of webhook deliveries that were given to workers again, as nothing came back in time.", registers }).inc(repeated);
  new Gauge({ name: "portico_nats_delivery_workers", help: "Delivery workers that have given a sign lately.", registers, aggregator: "max" }).set(dispatch.workers());
};

const ofWorker = (registers: Registry[], worker: NonNullable<NatsMeasured["worker"]>): void => {
  new Counter({ name: "portico_nats_worker_requests_total", help: "Requests that this delivery worker has sent.", registers }).inc(worker.sent());
};

/** Metrics of NATS at present, for `otherMetrics` of the node's plugin, or the replica's. No label has more than two values. */
export const natsMetrics = async ({ publisher, tip, dispatch, worker }: NatsMeasured): Promise<ProcessMetrics> => {
  const registry = new Registry();
  if (publisher !== undefined) ofPublisher([registry], publisher);
  if (tip !== undefined) ofTip([registry], tip);
  if (dispatch !== undefined) ofDispatch([registry], dispatch);
  if (worker !== undefined) ofWorker([registry], worker);
  return registry.getMetricsAsJSON();
};

/** The same as the text that Prometheus reads: for a process without a plugin, such as a worker. */
export const natsMetricsText = async (measured: NatsMeasured): Promise<string> => AggregatorRegistry.aggregate([await natsMetrics(measured)] as object[]).metrics();
