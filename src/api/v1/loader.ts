import { Type } from "@sinclair/typebox";
import { type Route, routesOf } from "../../http/route.js";
import { hostStatus } from "../v2/node.js";
import { Ports } from "../v2/peers.js";
import type { ApiState } from "../state.js";
import { firstGeneration, succeeded, SucceededWith } from "./input.js";

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "loader" } as const;

const Behind = Type.Integer({ description: "Height of the network minus that of this node; negative if this node is ahead." });

const NetworkResource = Type.Object(
  {
    nethash: Type.String(),
    token: Type.String(),
    symbol: Type.String(),
    explorer: Type.String(),
    version: Type.Integer({ description: "Version byte of addresses." }),
    ports: Ports,
  },
  { title: "FlatNetwork" },
);

export const loaderRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/loader/autoconfigure",
    summary: "Returns the network's parameters.",
    stateless: true,
    reply: SucceededWith({ network: NetworkResource }),
    answer: (_request, { rules, host }) => {
      const { nethash, pubKeyHash, client } = rules.network.network;
      const { token, symbol, explorer } = client;
      return succeeded({ network: { nethash, token, symbol, explorer, version: pubKeyHash, ports: host.node?.ports ?? {} } });
    },
  }),
  item({
    ...common,
    path: "/loader/status",
    summary: "Returns whether the node is in sync with its network.",
    cache: "never",
    reply: SucceededWith({ loaded: Type.Boolean(), now: Type.Integer({ description: "Height of this node." }), blocksCount: Behind }),
    answer: async (_request, state) => {
      const { synced, behind } = await hostStatus(state);
      return succeeded({ loaded: synced, now: state.chain.tip.height, blocksCount: behind });
    },
  }),
  item({
    ...common,
    path: "/loader/status/sync",
    summary: "Returns how many blocks the node is behind its network.",
    cache: "never",
    reply: SucceededWith({
      syncing: Type.Boolean(),
      blocks: Behind,
      height: Type.Integer({ description: "Height of this node." }),
      id: Type.String({ description: "Id of this node's last block." }),
    }),
    answer: async (_request, state) => {
      const { synced, behind } = await hostStatus(state);
      const { height, id } = state.chain.tip;
      return succeeded({ syncing: !synced, blocks: behind, height, id });
    },
  }),
];
