import type { NodeInfo } from "../../types/node-context.js";
import type { PorticoOptions } from "../../types/options.js";
import type { HostOptions } from "./options.js";
import { dynamicFees } from "./chain/dynamic-fees.js";

/** What Portico is given in every process that serves. */

/** `version` is that of the network's rules that this node follows: clients look at it to know what they may ask. It has no peers. */
export const nodeInfo = (port: number) =>
  ({
    version: "3.9.1",
    ports: { "@arkecosystem/core-p2p": null, "@arkecosystem/core-api": port },
    transactionPool: { dynamicFees },
  }) satisfies NodeInfo;

/** Only the network `local` is sure to move: on others, this host forges when it is the turn of one of its delegates, if it has any. */
const movesByItself = ({ network, forge, follow }: HostOptions): boolean => network === "local" && forge && follow === undefined;

export const porticoOptions = (options: HostOptions): PorticoOptions => ({
  basePath: options.basePath,
  // A longer interval than the block time, of any network, makes for longer pauses.
  ...(options.logClients === true ? { logClients: true } : {}),
  ...(options.trustedProxies === undefined ? {} : { trustedProxies: options.trustedProxies }),
  staleAfter: movesByItself(options) ? Math.max(5, (options.forgeInterval ?? 0) / 1000) : false,
  ...lakeOptions(options),
  metrics: true,
  console: true,
  ...webhookOptions(options),
});

const lakeOptions = ({ lake, lakeBlocks, lakeSnapshots }: HostOptions): PorticoOptions => (lake === undefined ? {} : { lake: { dir: lake, ...(lakeBlocks === undefined ? {} : { blocksPerFile: lakeBlocks }), ...(lakeSnapshots === undefined ? {} : { snapshotEvery: lakeSnapshots }) } });

const webhookOptions = ({ webhookToken, allowTargets, follow, replicaWebhooks }: HostOptions): PorticoOptions =>
  follow !== undefined && replicaWebhooks !== true ? {} : { webhooks: { allowTargets, ...(webhookToken === undefined ? {} : { tokens: [webhookToken] }) } };
