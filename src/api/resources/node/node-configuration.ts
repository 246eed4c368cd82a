import { type Static, Type } from "@sinclair/typebox";
import type { NodeInfo } from "../../../../types/node-context.js";
import type { ChainRules } from "../../../chain/rules.js";
import { ConstantsResource, presentConstants } from "./constants.js";
import { Ports } from "./peer.js";

const DynamicFees = Type.Object({
  enabled: Type.Boolean(),
  minFeePool: Type.Integer({ description: "Fee per byte below which the pool refuses a transaction." }),
  minFeeBroadcast: Type.Integer({ description: "Fee per byte below which a transaction is not broadcast." }),
  addonBytes: Type.Unsafe<Record<string, number>>({
    type: "object",
    additionalProperties: { type: "integer" },
    description: "Bytes added to a transaction's size when its minimum fee is computed, by key of the transaction type.",
  }),
});

export const NodeConfigurationResource = Type.Object(
  {
    core: Type.Optional(Type.Object({ version: Type.String({ description: "Version of the node software." }) })),
    nethash: Type.String(),
    slip44: Type.Optional(Type.Integer()),
    wif: Type.Integer(),
    token: Type.String(),
    symbol: Type.String(),
    explorer: Type.String(),
    version: Type.Integer({ description: "Version byte of addresses." }),
    ports: Ports,
    constants: ConstantsResource,
    transactionPool: Type.Object({ dynamicFees: DynamicFees }, { additionalProperties: true }),
  },
  { title: "NodeConfiguration" },
);

type Pool = NonNullable<NodeInfo["transactionPool"]>;

/** A host that does not describe its pool has no dynamic fees, and one without them may leave out what they are computed from. */
const presentPool = ({ types }: ChainRules, { dynamicFees, ...settings }: Pool = { dynamicFees: { enabled: false } }) => ({
  ...settings,
  dynamicFees: {
    enabled: dynamicFees.enabled,
    minFeePool: dynamicFees.minFeePool ?? 0,
    minFeeBroadcast: dynamicFees.minFeeBroadcast ?? 0,
    addonBytes: dynamicFees.addonBytes ?? Object.fromEntries(types.all.map(({ key }) => [key, 0])),
  },
});

export const presentNodeConfiguration = (
  rules: ChainRules,
  tipHeight: number,
  node: NodeInfo = {},
): Static<typeof NodeConfigurationResource> => {
  const { nethash, slip44, wif, pubKeyHash, client } = rules.network.network;
  return {
    ...(node.version === undefined ? {} : { core: { version: node.version } }),
    nethash,
    ...(slip44 === undefined ? {} : { slip44 }),
    wif,
    token: client.token,
    symbol: client.symbol,
    explorer: client.explorer,
    version: pubKeyHash,
    ports: node.ports ?? {},
    constants: presentConstants(rules.milestones.at(tipHeight)),
    transactionPool: presentPool(rules, node.transactionPool),
  };
};
