import { createHash } from "node:crypto";
import type { Delegate } from "../../types/chain.js";
import { type State, supplyOf } from "./state.js";

/** The digest as its definition says: the hashes of all parts, added up. */
export const digestOf = (state: State, delegates: readonly Delegate[]): string => {
  const ranked = delegates.filter(({ rank }) => rank !== null).sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
  const parts: unknown[][] = [
    ["supply", supplyOf(state)],
    ["ranks", ...ranked.map(({ publicKey }) => publicKey)],
    ...[...state.drafts.values()].map((wallet) => [
      "wallet",
      wallet.address,
      wallet.publicKey,
      wallet.secondPublicKey,
      wallet.username,
      wallet.balance,
      wallet.lockedBalance,
      wallet.nonce,
      wallet.vote,
      wallet.multiSignature === null ? null : [wallet.multiSignature.min, wallet.multiSignature.publicKeys],
      wallet.resigned,
    ]),
    ...delegates.map((delegate) => [
      "delegate",
      delegate.publicKey,
      delegate.voteBalance,
      delegate.voters,
      delegate.producedBlocks,
      delegate.missedBlocks,
      delegate.missedRounds,
      delegate.forgedFees,
      delegate.forgedRewards,
      delegate.lastBlock === null ? null : [delegate.lastBlock.id, delegate.lastBlock.height, delegate.lastBlock.timestamp],
    ]),
    ...[...state.locks.values()].map((lock) => [
      "lock",
      lock.lockId,
      lock.senderPublicKey,
      lock.recipientId,
      lock.amount,
      lock.secretHash,
      lock.timestamp,
      lock.expiration.type,
      lock.expiration.value,
      lock.vendorField ?? null,
    ]),
  ];
  const text = (part: unknown[]): string => JSON.stringify(part, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const hashes = parts.map((part) => BigInt(`0x${createHash("sha256").update(text(part)).digest("hex")}`));
  const sum = hashes.reduce((total, hash) => (total + hash) % 2n ** 256n, 0n);
  return sum.toString(16).padStart(64, "0");
};
