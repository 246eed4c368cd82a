import type { MaybePromise, Page, TransactionQuery } from "../../types/chain-adapter.js";
import type { Transaction } from "../../types/chain.js";
import type { ChainRules } from "../chain/rules.js";
import type { StateRecord, WalletRecord } from "./codec.js";
import { transactionTester } from "./match.js";
import { answerList } from "./question.js";
import type { Reading } from "./reading.js";
import { existing, readTransaction } from "./records.js";
import type { Search } from "./search.js";
import type { Comparable } from "./sorting.js";
import { accessesTo } from "./transaction-accesses.js";
import { ownedByAny } from "./union-of-owners.js";

export interface TransactionNeeds {
  reading: Reading;
  state: StateRecord;
  rules: ChainRules;
  search: Search;
  wallet(address: string): WalletRecord | undefined;
}

/** Answers a list question. Rows are found by their numbers, which are their places in the chain. */
export const askTransactions = (query: TransactionQuery, needs: TransactionNeeds): MaybePromise<Page<Transaction>> => {
  const { filter } = query;
  if (filter.addresses === undefined) return answer(query, needs, undefined);
  const ofAny = ownedByAny(filter.addresses, needs);
  return ofAny instanceof Promise ? ofAny.then((numbers) => answer(query, needs, numbers)) : answer(query, needs, ofAny);
};

const answer = (
  query: TransactionQuery,
  needs: TransactionNeeds,
  ofAny: Parameters<typeof accessesTo>[2],
): MaybePromise<Page<Transaction>> => {
  const { filter, order } = query;
  const { reading, rules, search } = needs;
  const withRecipients = filter.recipientId !== undefined || filter.ownerId !== undefined || filter.addresses !== undefined;
  return answerList(
    {
      query,
      accesses: accessesTo(query, needs, ofAny),
      load: (number: number): Transaction => existing(readTransaction(reading, number), `transaction ${number}`),
      test: (asked, answered) => {
        const passes = transactionTester(asked, answered);
        return passes && ((transaction) => passes({ transaction, recipients: withRecipients ? rules.recipientsOf(transaction) : [] }));
      },
      value: valueOf(order.field),
      ties: "desc",
      below: needs.state.transactions,
    },
    search,
  );
};

const valueOf = (field: TransactionQuery["order"]["field"]): ((transaction: Transaction) => Comparable) | undefined =>
  field === "timestamp" ? undefined : (transaction) => transaction[field];
