import { Type } from "@sinclair/typebox";
import { type Route, routesOf } from "../../http/route.js";
import { hostStatus } from "../questions/host.js";
import { Ports } from "../resources/peer.js";
import type { ApiState } from "../state.js";
import { firstGeneration, succeeded, SucceededWith } from "./envelope.js";

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "loader" } as const;

const Behind = Type.Integer({ description: "Height of the network less that of this node; negative when this node is ahead." });

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
    summary: "Tells the network.",
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
    summary: "Tells whether the node is in step with its network.",
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
    summary: "Tells how many blocks the node has yet to catch up.",
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
