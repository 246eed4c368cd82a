import { messageOf } from "../errors.js";
import type { Block, RoundDelegate, Transaction } from "../../types/chain.js";
import { amountText, type Booking } from "../chain/bookings.js";
import type { ChainRules } from "../chain/rules.js";
import { parseTransaction } from "../chain/blocks/block.js";

interface BigNumberLike {
  _isBigNumber: true;
  toFixed(): string;
}

/** bignumber.js, whose own JSON form has exponents for large numbers. */
const isBigNumber = (value: unknown): value is BigNumberLike =>
  typeof value === "object" && value !== null && (value as Partial<BigNumberLike>)._isBigNumber === true;

const plain = (original: unknown, value: unknown): unknown => {
  if (isBigNumber(original)) return original.toFixed();
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
};

/** Values in a payload, at the most: some hundred times those of a full block. One with more leads into the host's internals. */
const mostValues = 250_000;

/** A replacer that leaves out circular references, and throws where a payload has too many values. */
const withoutCycles = () => {
  const ancestors: unknown[] = [];
  let values = 0;
  return function replace(this: unknown, key: string, value: unknown): unknown {
    if (++values > mostValues) throw new RangeError(`The payload has more than ${mostValues} values.`);
    const holder = this as Record<string, unknown>;
    const replaced = plain(holder[key], value);
    if (typeof replaced !== "object" || replaced === null) return replaced;
    while (ancestors.length > 0 && ancestors.at(-1) !== holder) ancestors.pop();
    if (ancestors.includes(replaced)) return undefined;
    ancestors.push(replaced);
    return replaced;
  };
};

/** Undefined for what JSON leaves out, itself or as the result of `toJSON`, which the types of `JSON.stringify` do not say. */
const textOf: (value: unknown, replacer: ReturnType<typeof withoutCycles>) => string | undefined = JSON.stringify;

/**
 * What a host emits, as JSON text: amounts of any kind as decimal strings, errors by name and message, `null` for nothing at all.
 * Never throws, whatever the payload is: for one that cannot be read, it says why.
 *
 * Maps and sets are `{}`, as in JSON: a wallet that ARK Core 3 emits (`round.created`) holds the node's event dispatcher, and through
 * its map of listeners the whole node. Serializing that would block the node for seconds.
 */
export const payloadJson = (payload: unknown): string => {
  try {
    return textOf(payload, withoutCycles()) ?? "null";
  } catch (error) {
    return JSON.stringify({ unreadable: messageOf(error) });
  }
};

/** A member of a payload, which may be anything. */
export const memberOf = (payload: unknown, name: string): unknown =>
  typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined;

// Payloads of the chain's events, made from the chain: JSON values with amounts as decimal strings.

/** What a fork's asset holds may be anything. */
const plainValue = (value: unknown): unknown => JSON.parse(payloadJson(value));

/** A block's header, as hosts emit it. */
export const blockPayload = (block: Block): Record<string, unknown> => ({
  ...block,
  totalAmount: String(block.totalAmount),
  totalFee: String(block.totalFee),
  reward: String(block.reward),
});

/**
 * Whom a transaction concerns: its sender, its recipient, and those of its payments, each once. Undefined where a fork's `recipients`
 * throws:
 * the transaction's event does without, or all later events would wait for it without end.
 */
const addressesOf = (transaction: Transaction, rules: Pick<ChainRules, "recipientsOf">): string[] | undefined => {
  try {
    return [...new Set([transaction.senderId, ...rules.recipientsOf(transaction)])];
  } catch {
    return undefined;
  }
};

/** Members that are another in the wire form, or not there. */
const converted: ReadonlySet<string> = new Set(["nonce", "amount", "fee", "asset"]);

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
  const addresses = addressesOf(transaction, rules);
  if (addresses !== undefined) payload.addresses = addresses;
  return payload;
};

/** What a block's transaction, or the block itself, does to one wallet's money: as in its statement. */
export const bookingPayload = (
  { address, kind, id, counterparty, memo, ...amounts }: Booking,
  { height, timestamp }: Block,
): Record<string, unknown> => ({
  address,
  kind,
  id,
  height,
  timestamp,
  counterparty,
  memo,
  in: amountText(amounts.in),
  out: amountText(amounts.out),
  fee: amountText(amounts.fee),
});

/** The delegates of a round, as `/rounds/{id}/delegates` shows them. */
export const roundPayload = (delegates: readonly RoundDelegate[]): Record<string, unknown>[] =>
  delegates.map(({ publicKey, username, voteBalance }) => ({ publicKey, username, votes: String(voteBalance) }));

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
