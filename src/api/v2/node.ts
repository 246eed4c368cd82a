import { Type } from "@sinclair/typebox";
import { WholeNumber } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import {
  CryptoConfigurationResource,
  FeeStatisticsResource,
  hostStatus,
  NodeConfigurationResource,
  NodeStatusResource,
  NodeSyncingResource,
  presentCryptoConfiguration,
  presentFeeStatistics,
  presentNodeConfiguration,
} from "../resources/node.js";
import { DataOf } from "../resources/values.js";
import { type ApiState, requireSupport } from "../state.js";

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
    summary: "Returns statistics of the fees paid in the days before the tip, by transaction type. Genesis and, with dynamic fees, fees below `minFeeBroadcast` are left out.",
    query: Type.Object({ days: WholeNumber({ minimum: 1, maximum: 30, default: 7, description: "Days before the tip that are looked at." }) }),
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
    answer: (_request, state) =>
      andThen(hostStatus(state), ({ synced, behind }) => {
        const timestamp = Math.floor(state.rules.epoch.fromMilliseconds(state.clock.now()));
        return { data: { synced, now: state.chain.tip.height, blocksCount: behind, timestamp } };
      }),
  }),
  item({
    ...common,
    path: "/node/syncing",
    summary: "Returns how many blocks the node is behind its network.",
    cache: "never",
    reply: DataOf(NodeSyncingResource),
    answer: (_request, state) =>
      andThen(hostStatus(state), ({ synced, behind }) => {
        const { height, id } = state.chain.tip;
        return { data: { syncing: !synced, blocks: behind, height, id } };
      }),
  }),
];
