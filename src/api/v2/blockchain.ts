import { Type } from "@sinclair/typebox";
import { type Route, routesOf } from "../../http/route.js";
import { Amount, DataOf } from "../resources/values.js";
import type { ApiState } from "../state.js";

const { item } = routesOf<ApiState>();

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
