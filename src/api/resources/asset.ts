import { Type } from "@sinclair/typebox";
import { isDigits } from "../../digits.js";
import { Amount } from "./amount.js";

/**
 * An asset as the block has it, with the amounts of its payments written as all amounts are. Only lists of objects are described, since a
 * fork may call anything `payments`.
 */
export const AssetResource = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  "x-amounts-inside": true,
  properties: { payments: { items: { properties: { amount: Amount } } } },
});

const hasAmount = (payment: unknown): payment is { amount: string } =>
  typeof payment === "object" && payment !== null && "amount" in payment && typeof payment.amount === "string" && isDigits(payment.amount);

export const presentAsset = (asset: Record<string, unknown>): Record<string, unknown> => {
  const { payments } = asset;
  if (!Array.isArray(payments)) return asset;
  return { ...asset, payments: payments.map((payment: unknown) => (hasAmount(payment) ? { ...payment, amount: BigInt(payment.amount) } : payment)) };
};
