import type { NatsMeasured, NatsOptions, NatsTip, TipPublisher } from "portico/nats";
import type { Logger, Network, ProcessMetrics } from "../../types/node-context.js";
import type { HostOptions } from "./options.js";

/** NATS, where it is asked for: nothing of it is loaded otherwise. */

const natsOptions = ({ nats, natsCreds, natsCa, natsPrefix, natsReplicas }: Pick<HostOptions, "nats" | "natsCreds" | "natsCa" | "natsPrefix" | "natsReplicas">): NatsOptions | undefined =>
  nats === undefined
    ? undefined
    : {
        servers: nats.split(","),
        ...(natsCreds === undefined ? {} : { credentials: natsCreds }),
        ...(natsCa === undefined ? {} : { tls: { caFile: natsCa } }),
        ...(natsPrefix === undefined ? {} : { prefix: natsPrefix }),
        ...(natsReplicas === undefined ? {} : { replicas: natsReplicas }),
      };

/** Brings a replica its node's changes; undefined unless `--nats` was given. */
export const startTip = async (options: HostOptions, logger: Logger): Promise<NatsTip | undefined> => {
  const nats = natsOptions(options);
  return nats === undefined ? undefined : (await import("portico/nats")).natsTip(nats, logger);
};

/** Metrics of what this process has of NATS; none where it has nothing. */
export const measureNats = async (measured: NatsMeasured): Promise<ProcessMetrics> =>
  Object.values(measured).every((part) => part === undefined) ? [] : (await import("portico/nats")).natsMetrics(measured);

/** Carries the node's changes to its replicas; undefined unless `--nats` was given. */
export const startPublishing = async (options: HostOptions, { network, url, logger }: { network: Network; url: string; logger: Logger }): Promise<TipPublisher | undefined> => {
  const nats = natsOptions(options);
  if (nats === undefined) return undefined;
  const { startTipPublisher } = await import("portico/nats");
  return startTipPublisher(nats, { url, nethash: network.network.nethash, logger });
};
