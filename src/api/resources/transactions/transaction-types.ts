import { Type } from "@sinclair/typebox";
import type { TransactionType } from "../../../../types/transaction-type.js";

export const TransactionTypesResource = Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" } });

/** Name -> number. A kind with different numbers in the two versions gets that of the latest version, which new transactions use. */
export const presentTransactionTypes = (types: readonly TransactionType[]): Record<string, number> => {
  const latest = ({ versions }: TransactionType): number => Math.max(...(versions ?? [2]));
  const numbers: Record<string, number> = {};
  for (const { name, type } of [...types].sort((a, b) => latest(a) - latest(b))) numbers[name] = type;
  return Object.fromEntries(types.map(({ name }) => [name, numbers[name] ?? 0]));
};
