import type { Delegate } from "../../types/chain.js";
import type { DelegateOrder, DelegateQuery, Page } from "../../types/chain-adapter.js";
import { approvalOf } from "../chain/amount.js";
import { delegateCodec, type StateRecord } from "./codec.js";
import { delegateTester } from "./match.js";
import type { Reading } from "./reading.js";
import { readRanking, readWallet } from "./records.js";
import { comparisonOf } from "./sorting.js";

/** Every delegate at one tip. They are some thousands at the most, and every list of them needs them all. */
export interface DelegateList {
  /** In no order. */
  readonly all: readonly Delegate[];
  /** By address; those that have one. */
  readonly secondPublicKeys: ReadonlyMap<string, string>;
  readonly byPublicKey: ReadonlyMap<string, Delegate>;
  readonly byAddress: ReadonlyMap<string, Delegate>;
  readonly byUsername: ReadonlyMap<string, Delegate>;
  /** Of all of them. */
  readonly producedBlocks: number;
}

export const readDelegates = (reading: Reading, state: StateRecord): DelegateList => {
  const ranks = new Map(readRanking(reading).map(({ publicKey }, i) => [publicKey, i + 1]));
  const all: Delegate[] = [];
  const secondPublicKeys = new Map<string, string>();
  for (const { value } of reading.range("delegates", {})) {
    const record = delegateCodec.unpack(value as unknown[]);
    const wallet = readWallet(reading, record.address);
    if (wallet === undefined || wallet.username === null) continue;
    if (wallet.secondPublicKey !== null) secondPublicKeys.set(wallet.address, wallet.secondPublicKey);
    all.push({
      username: wallet.username,
      address: record.address,
      publicKey: record.publicKey,
      voteBalance: record.voteBalance,
      rank: ranks.get(record.publicKey) ?? null,
      approval: approvalOf(record.voteBalance, state.supply),
      producedBlocks: record.producedBlocks,
      missedBlocks: record.missedBlocks,
      forgedFees: record.forgedFees,
      forgedRewards: record.forgedRewards,
      forgedTotal: record.forgedFees + record.forgedRewards,
      lastBlock: record.lastBlock,
      resigned: wallet.resigned,
      vote: wallet.vote,
      balance: wallet.balance,
    });
  }
  return {
    all,
    secondPublicKeys,
    byPublicKey: new Map(all.map((delegate) => [delegate.publicKey, delegate])),
    byAddress: new Map(all.map((delegate) => [delegate.address, delegate])),
    byUsername: new Map(all.map((delegate) => [delegate.username, delegate])),
    producedBlocks: all.reduce((sum, { producedBlocks }) => sum + producedBlocks, 0),
  };
};

export const findDelegate = (delegates: DelegateList, identifier: string): Delegate | undefined =>
  delegates.byUsername.get(identifier) ?? delegates.byAddress.get(identifier) ?? delegates.byPublicKey.get(identifier);

export const askDelegates = ({ filter, order, offset, limit }: DelegateQuery, delegates: DelegateList): Page<Delegate> => {
  const passes = delegateTester(filter);
  const rows = delegates.all.filter(
    (delegate) => passes?.({ delegate, secondPublicKey: delegates.secondPublicKeys.get(delegate.address) ?? null }) ?? true,
  );
  const value = (delegate: Delegate): string | number | bigint | null => delegate[order.field satisfies DelegateOrder];
  rows.sort(comparisonOf({ direction: order.direction, value, key: ({ username }) => username, ties: "asc" }));
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
};

