import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { ChainRules } from "../chain/rules.js";
import { askBlocks } from "./block-questions.js";
import type { StateRecord } from "./codec.js";
import { askDelegates, type DelegateList, findDelegate } from "./delegate-list.js";
import { askFeeStatistics } from "./fee-questions.js";
import { idKey, textKey } from "./keys.js";
import { askLocks } from "./lock-questions.js";
import type { Reading } from "./reading.js";
import { heightOf, readBlock, readLock, readRound, readTransaction, readWallet, transactionNumber } from "./records.js";
import type { Search } from "./search.js";
import { askTransactions } from "./transaction-questions.js";
import { askWallets, presentWallet } from "./wallet-questions.js";

export interface SnapshotNeeds {
  reading: Reading;
  state: StateRecord;
  rules: ChainRules;
  /** Every delegate at this state's tip. */
  delegates(): DelegateList;
  search: Search;
  release(): void;
}

/** The store's answers at one state: at once, but for what takes some looking. */
export const createSnapshot = ({ reading, state, rules, delegates, search, release }: SnapshotNeeds): ChainSnapshot => {
  const addressOf = (identifier: string): string | undefined =>
    (
      (reading.get("publicKeys", idKey(identifier)) ?? reading.get("usernames", textKey(identifier))) as Buffer | undefined
    )?.toString("utf8");
  return {
    tip: state.tip,
    supply: state.supply,
    wallet: (identifier) => {
      const record = readWallet(reading, identifier) ?? readWallet(reading, addressOf(identifier) ?? "");
      return record === undefined ? undefined : presentWallet(record, delegates());
    },
    wallets: (query) => askWallets(query, { reading, delegates: delegates(), search }),
    delegate: (identifier) => findDelegate(delegates(), identifier),
    delegates: (query) => askDelegates(query, delegates()),
    block: (key) => {
      const height = "height" in key ? key.height : heightOf(reading, key.id);
      return height === undefined || !Number.isInteger(height) || height < 1 || height > state.tip.height ? undefined : readBlock(reading, height);
    },
    blocks: (query) => askBlocks(query, { reading, state, search, delegates }),
    transaction: (id) => {
      const number = transactionNumber(reading, id);
      return number === undefined ? undefined : readTransaction(reading, number);
    },
    transactions: (query) => askTransactions(query, { reading, state, rules, search }),
    lock: (id) => readLock(reading, id),
    locks: (query) => askLocks(query, { reading, state, search }),
    round: (round) => (Number.isInteger(round) && round >= 1 && round <= 0xffffffff ? readRound(reading, round) : undefined),
    feeStatistics: (window) => askFeeStatistics(window, { reading, state, search }),
    release,
  };
};
