import { type Route, routesOf } from "../../http/route.js";
import type { ApiState } from "../state.js";
import { firstGeneration, succeeded } from "./input.js";
import { feeOf, FeeReply } from "./fees.js";

const { item } = routesOf<ApiState>();

export const signatureRoutes: Route<ApiState>[] = [
  item({
    ...firstGeneration,
    resource: "signatures",
    path: "/signatures/fee",
    summary: "Returns the fee of a second signature.",
    reply: FeeReply,
    answer: (_request, state) => succeeded({ fee: feeOf("secondSignature", state) }),
  }),
];
