import { Type } from "@sinclair/typebox";
import { Amount } from "./values/amount.js";

export const BalancesResource = Type.Unsafe<Record<string, bigint>>({
  type: "object",
  additionalProperties: { ...Amount },
  description: "Address -> balance.",
});
