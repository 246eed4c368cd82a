import { Counter, Gauge, Registry } from "prom-client";
import type { ProcessMetrics } from "../../types/node-context.js";
import type { TipPublisher } from "./tip-publisher.js";
import type { NatsTip } from "./tip-subscriber.js";

/** The parts of this process that use NATS. */
export interface NatsMeasured {
  /** On a node: the publisher of its changes. @default none */
  publisher?: Pick<TipPublisher, "published" | "problem"> | undefined;
  /** On a replica: the source of its changes. @default none */
  tip?: Pick<NatsTip, "received" | "isConnected"> | undefined;
}

const ofPublisher = (registers: Registry[], publisher: NonNullable<NatsMeasured["publisher"]>): void => {
  new Counter({ name: "portico_nats_changes_published_total", help: "Changes published for replicas.", registers }).inc(publisher.published());
};

const ofTip = (registers: Registry[], tip: NonNullable<NatsMeasured["tip"]>): void => {
  new Counter({ name: "portico_nats_changes_received_total", help: "Changes received by this replica over NATS.", registers }).inc(tip.received());
  new Gauge({ name: "portico_nats_changes_connected", help: "1 while this replica reads changes from NATS, 0 while it asks the node instead.", registers, aggregator: "max" }).set(tip.isConnected() ? 1 : 0);
};

/** Metrics of NATS at present, for `otherMetrics` of the node's plugin, or the replica's. No label has more than two values. */
export const natsMetrics = async ({ publisher, tip }: NatsMeasured): Promise<ProcessMetrics> => {
  const registry = new Registry();
  if (publisher !== undefined) ofPublisher([registry], publisher);
  if (tip !== undefined) ofTip([registry], tip);
  return registry.getMetricsAsJSON();
};
