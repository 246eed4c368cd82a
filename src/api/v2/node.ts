import { type Static, Type } from "@sinclair/typebox";
import type { FeeStatistics } from "../../../types/chain.js";
import { WholeNumber } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { Amount, AmountText, DataOf } from "../fields.js";
import { type ApiState, requireSupport } from "../state.js";
import {
  CryptoConfigurationResource,
  NodeConfigurationResource,
  presentCryptoConfiguration,
  presentNodeConfiguration,
} from "./configuration.js";

const NodeStatusResource = Type.Object(
  {
    synced: Type.Boolean(),
    now: Type.Integer({ description: "Height of this node." }),
    blocksCount: Type.Integer({ description: "Height of the network minus that of this node; negative if this node is ahead." }),
    timestamp: Type.Integer({ description: "Epoch time of this node's clock." }),
  },
  { title: "NodeStatus" },
);

const NodeSyncingResource = Type.Object(
  {
    syncing: Type.Boolean(),
    blocks: Type.Integer({ description: "Height of the network minus that of this node; negative if this node is ahead." }),
    height: Type.Integer({ description: "Height of this node." }),
    id: Type.String({ description: "Id of this node's last block." }),
  },
  { title: "NodeSyncing" },
);

const FeeStatisticsResource = Type.Object(
  { type: Type.Integer(), typeGroup: Type.Integer(), avg: AmountText, min: AmountText, max: AmountText, sum: AmountText },
  { title: "FeeStatistics" },
);

const presentFeeStatistics = (statistics: FeeStatistics): Static<typeof FeeStatisticsResource> => ({
  type: statistics.type,
  typeGroup: statistics.typeGroup,
  avg: statistics.avg.toString(),
  min: statistics.min.toString(),
  max: statistics.max.toString(),
  sum: statistics.sum.toString(),
});

interface HostStatus {
  synced: boolean;
  /** Height of the network minus this node's; negative if this node is ahead. */
  behind: number;
}

/** Whether this node is in step with its network. A host without `sync` knows only its own height, and so counts as synced. */
export const hostStatus = async ({ chain, host: { sync } }: ApiState): Promise<HostStatus> => {
  if (sync === undefined) return { synced: true, behind: 0 };
  const behind = (await sync.networkHeight()) - chain.tip.height;
  return { synced: (await sync.synced?.()) ?? behind <= 0, behind };
};

const { item } = routesOf<ApiState>();
const common = { method: "GET", versions: [2], resource: "node" } as const;
const secondsADay = 86_400;

export const nodeRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/node/configuration",
    atHeight: true,
    hasHostParts: true,
    summary: "Returns the network's parameters, the constants at the tip and the node's settings.",
    reply: DataOf(NodeConfigurationResource),
    answer: (_request, { rules, chain, host }) => ({ data: presentNodeConfiguration(rules, chain.tip.height, host.node) }),
  }),
  item({
    ...common,
    path: "/node/configuration/crypto",
    summary: "Returns everything needed to sign for the network: parameters, milestones, exceptions and genesis block.",
    stateless: true,
    reply: DataOf(CryptoConfigurationResource),
    answer: (_request, { rules }) => ({ data: presentCryptoConfiguration(rules) }),
  }),
  item({
    ...common,
    path: "/node/fees",
    atHeight: true,
    summary:
      "Returns statistics of the fees paid in the days before the tip, by transaction type. Genesis and, with dynamic fees, fees below `minFeeBroadcast` are left out.",
    query: Type.Object({
      days: WholeNumber({ minimum: 1, maximum: 30, default: 7, description: "Days before the tip that are looked at." }),
    }),
    reply: Type.Object({ meta: Type.Object({ days: Type.Integer() }), data: Type.Array(FeeStatisticsResource) }),
    errors: [501],
    answer: async ({ query: { days } }, state) => {
      requireSupport("feeStatistics", state);
      const to = state.chain.tip.timestamp;
      const { enabled = false, minFeeBroadcast = 0 } = state.host.node?.transactionPool?.dynamicFees ?? {};
      const minFee = enabled ? { minFee: BigInt(minFeeBroadcast) } : {};
      const statistics = await state.chain.feeStatistics({ from: Math.max(0, to - days * secondsADay), to, ...minFee });
      return { meta: { days }, data: statistics.map(presentFeeStatistics) };
    },
  }),
  item({
    ...common,
    path: "/node/status",
    summary: "Returns whether the node is in sync with its network.",
    cache: "never",
    reply: DataOf(NodeStatusResource),
    answer: async (_request, state) => {
      const { synced, behind } = await hostStatus(state);
      const timestamp = Math.floor(state.rules.epoch.fromMilliseconds(state.clock.now()));
      return { data: { synced, now: state.chain.tip.height, blocksCount: behind, timestamp } };
    },
  }),
  item({
    ...common,
    path: "/node/syncing",
    summary: "Returns how many blocks the node is behind its network.",
    cache: "never",
    reply: DataOf(NodeSyncingResource),
    answer: async (_request, state) => {
      const { synced, behind } = await hostStatus(state);
      const { height, id } = state.chain.tip;
      return { data: { syncing: !synced, blocks: behind, height, id } };
    },
  }),
];

const BlockchainResource = Type.Object(
  { block: Type.Object({ height: Type.Integer(), id: Type.String() }), supply: Amount, digest: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$", description: "Digest of the state: two nodes at one block have the same." })) },
  { title: "Blockchain" },
);

export const blockchainRoutes: Route<ApiState>[] = [
  item({
    method: "GET",
    versions: [2],
    resource: "blockchain",
    path: "/blockchain",
    atHeight: true,
    summary: "Returns the tip, the supply and the digest of the state.",
    reply: DataOf(BlockchainResource),
    answer: (_request, { chain: { tip, supply, digest } }) => ({
      data: { block: { height: tip.height, id: tip.id }, supply, ...(digest === undefined ? {} : { digest }) },
    }),
  }),
];
