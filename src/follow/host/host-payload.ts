import { parseTransaction } from "../../chain/blocks/block.js";
import type { ChainRules } from "../../chain/rules.js";
import { addressesOf } from "../chain-payload.js";
import { memberOf, payloadJson } from "../payload.js";

type AddressRules = Pick<ChainRules, "addressOf" | "recipientsOf">;

/** What a transaction that waits does not have yet. Nobody's address depends on it. */
const noPlace = { timestamp: 0, blockId: "", blockHeight: 0, sequence: 0 };

/** Adds `addresses` to a transaction, or to each of a list. Anything else, or what has them, stays as it is. */
const addAddresses = (value: unknown, rules: AddressRules): void => {
  if (Array.isArray(value)) return value.forEach((item) => addAddresses(item, rules));
  if (typeof value !== "object" || value === null || "addresses" in value) return;
  try {
    const transaction = { ...noPlace, ...parseTransaction(value, "the payload", rules.addressOf) };
    Object.assign(value, { addresses: addressesOf(transaction, rules) });
  } catch {
    // It is no transaction, or lacks what its addresses are made from.
  }
};

/** The transaction in a payload, or a list of them, as the chain's own events have it; undefined where there is none. */
const transactionIn = (event: string, payload: unknown): unknown => {
  if (event.startsWith("wallet.")) return memberOf(payload, "transaction");
  return event.startsWith("transaction.") || event.startsWith("delegate.") ? payload : undefined;
};

/** An event of the host as JSON text, with transactions as the chain's own events have them. What the host emitted is not changed. */
export const hostPayload = (event: string, payload: unknown, rules: AddressRules): string => {
  const json = payloadJson(payload);
  if (transactionIn(event, payload) === undefined) return json;
  const copy: unknown = JSON.parse(json);
  addAddresses(transactionIn(event, copy), rules);
  return JSON.stringify(copy);
};
