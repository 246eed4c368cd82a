import { Type } from "@sinclair/typebox";
import { Amount } from "../fields.js";
import type { ApiState } from "../state.js";
import { firstGeneration, succeeded, SucceededWith } from "./input.js";
import { presentStaticFees } from "../v2/configuration.js";
import { type Route, routesOf } from "../../http/route.js";

/** The static fee of a kind of transaction at the tip, by its key; 0 if the network defines none. */
export const feeOf = (key: string, { chain, rules }: ApiState): bigint =>
  presentStaticFees(rules.milestones.at(chain.tip.height))[key] ?? 0n;

export const FeeReply = SucceededWith({ fee: Amount });

export const FeesReply = SucceededWith({
  fees: Type.Object({ send: Amount, vote: Amount, secondsignature: Amount, delegate: Amount, multisignature: Amount }),
});

export const feesOf = (state: ApiState) => ({
  send: feeOf("transfer", state),
  vote: feeOf("vote", state),
  secondsignature: feeOf("secondSignature", state),
  delegate: feeOf("delegateRegistration", state),
  multisignature: feeOf("multiSignature", state),
});

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
