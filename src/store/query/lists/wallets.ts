import type { Delegate, Wallet } from "../../../../types/chain.js";
import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { Page, WalletQuery } from "../../../../types/chain-queries.js";
import type { WalletRecord } from "../../layout/codec.js";
import type { DelegateList } from "./delegate-list.js";
import { walletTester } from "../filters.js";
import { answerList } from "../list-query.js";
import type { Reading } from "../../lmdb/reading.js";
import { existing, readWallet } from "../../records/records.js";
import type { Search } from "../search.js";
import { accessPathsTo } from "./wallet-access-paths.js";

/** A wallet as clients see it, with what it has as a delegate. */
export const presentWallet = (record: WalletRecord, delegates: { byAddress: ReadonlyMap<string, Pick<Delegate, "voteBalance" | "producedBlocks">> }): Wallet => {
  const delegate = record.username === null ? undefined : delegates.byAddress.get(record.address);
  return {
    address: record.address,
    publicKey: record.publicKey,
    secondPublicKey: record.secondPublicKey,
    username: record.username,
    balance: record.balance,
    lockedBalance: record.lockedBalance,
    nonce: record.nonce,
    vote: record.vote,
    multiSignature: record.multiSignature,
    isDelegate: record.username !== null,
    resigned: record.resigned,
    voteBalance: delegate?.voteBalance ?? 0n,
    producedBlocks: delegate?.producedBlocks ?? 0,
  };
};

interface WalletNeeds {
  reading: Reading;
  delegates: DelegateList;
  search: Search;
}

/** Answers a list query. References are addresses. */
export const askWallets = (query: WalletQuery, { search, ...needs }: WalletNeeds): MaybePromise<Page<Wallet>> =>
  answerList(
    {
      query,
      paths: accessPathsTo(query, needs),
      load: (address: string) => presentWallet(existing(readWallet(needs.reading, address), `wallet ${address}`), needs.delegates),
      test: walletTester,
      value: (wallet) => wallet[query.order.field],
      ties: "asc",
    },
    search,
  );
