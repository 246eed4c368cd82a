import type { Block, RoundDelegate, Transaction } from "../../types/chain.js";
import type { ChainRules } from "../chain/rules.js";
import { payloadJson } from "./payload.js";

/** Payloads of the chain's events, made from the chain: JSON values with amounts as decimal strings. */

/** What a fork's asset holds may be anything. */
const plainValue = (value: unknown): unknown => JSON.parse(payloadJson(value));

/** A block's header, as hosts emit it. */
export const blockPayload = (block: Block): Record<string, unknown> => ({
  ...block,
  totalAmount: String(block.totalAmount),
  totalFee: String(block.totalFee),
  reward: String(block.reward),
});

/** Whom a transaction concerns: its sender, its recipient, and those of its payments, each once. */
export const addressesOf = (transaction: Transaction, rules: Pick<ChainRules, "recipientsOf">): string[] => {
  return [...new Set([transaction.senderId, ...rules.recipientsOf(transaction)])];
};

/**
 * As above; undefined where a fork's `recipients` throws for what a host's own chain has all the same. The transaction's event does without, as the
 * host's would: all others, and those of later blocks, would wait for it without end.
 */
const addressesIfKnown = (transaction: Transaction, rules: Pick<ChainRules, "recipientsOf">): string[] | undefined => {
  try {
    return addressesOf(transaction, rules);
  } catch {
    return undefined;
  }
};

/** Members that are another in the wire form, or not there. */
const converted: ReadonlySet<string> = new Set(["senderId", "nonce", "amount", "fee", "asset"]);

/** A transaction as hosts emit it: the wire form and its place in the chain; and beyond that, `addresses`. */
export const transactionPayload = (transaction: Transaction, rules: Pick<ChainRules, "recipientsOf">): Record<string, unknown> => {
  const { nonce, amount, fee, asset } = transaction;
  // Member by member: to objects into which others were spread first, V8 adds members slowly.
  const payload: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(transaction)) if (!converted.has(name)) payload[name] = value;
  if (nonce !== undefined) payload.nonce = String(nonce);
  payload.amount = String(amount);
  payload.fee = String(fee);
  if (asset !== undefined) payload.asset = plainValue(asset);
  const addresses = addressesIfKnown(transaction, rules);
  if (addresses !== undefined) payload.addresses = addresses;
  return payload;
};

/** The delegates of a round, as `/rounds/{id}/delegates` shows them. */
export const roundPayload = (delegates: readonly RoundDelegate[]): Record<string, unknown>[] =>
  delegates.map(({ publicKey, username, voteBalance }) => ({ publicKey, username, votes: String(voteBalance) }));
