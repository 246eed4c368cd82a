import type { NodeInfo, PorticoOptions } from "../../types/node-context.js";
import type { HostOptions } from "./options.js";
import { dynamicFees } from "./pool.js";

/** What Portico is given in every process that serves. */

/** `version` is that of the network's rules that this node follows: clients look at it to know what they may ask. It has no peers. */
export const nodeInfo = (port: number) =>
  ({
    version: "3.9.1",
    ports: { "@arkecosystem/core-p2p": null, "@arkecosystem/core-api": port },
    transactionPool: { dynamicFees },
  }) satisfies NodeInfo;

export const porticoOptions = ({ webhookToken, allowTargets }: HostOptions): PorticoOptions => ({
  webhooks: { allowTargets, ...(webhookToken === undefined ? {} : { tokens: [webhookToken] }) },
});
