import type { MaybePromise, Page, TransactionFilter, TransactionQuery } from "../../../../types/chain-adapter.js";
import type { Transaction } from "../../../../types/chain.js";
import type { ChainRules } from "../../../chain/rules.js";
import { andThen } from "../../../async/maybe-promise.js";
import type { StateRecord, WalletRecord } from "../../layout/codec.js";
import { transactionTester } from "../filters.js";
import { answerList } from "../list-query.js";
import type { Reading } from "../../lmdb/reading.js";
import { existing, readTransaction } from "../../records/records.js";
import type { Search } from "../search.js";
import type { Comparable } from "../../records/sorting.js";
import { accessPathsTo, type Gathered } from "./transaction-access-paths.js";
import { ownedByAny } from "../union.js";
import { withVendorPart } from "../vendor-field-scan.js";

export interface TransactionNeeds {
  reading: Reading;
  state: StateRecord;
  rules: ChainRules;
  search: Search;
  wallet(address: string): WalletRecord | undefined;
}

/** Answers a list query. References are numbers, which are places in the chain. */
export const askTransactions = (query: TransactionQuery, needs: TransactionNeeds): MaybePromise<Page<Transaction>> =>
  andThen(gathered(query.filter, needs), (lists) => answer(query, needs, lists));

const gathered = ({ addresses, vendorFieldHex, ...others }: TransactionFilter, needs: TransactionNeeds): MaybePromise<Gathered> => {
  if (addresses !== undefined) return andThen(ownedByAny(addresses, needs), (ofAny) => ({ ofAny }));
  // Any other filter mostly leaves fewer rows than there are texts.
  if (vendorFieldHex === undefined || Object.keys(others).length > 0) return {};
  return andThen(needs.search.run(withVendorPart(vendorFieldHex, needs)), (withPart) => ({ withPart }));
};

const answer = (
  query: TransactionQuery,
  needs: TransactionNeeds,
  lists: Gathered,
): MaybePromise<Page<Transaction>> => {
  const { filter, order } = query;
  const { reading, rules, search } = needs;
  const withRecipients = filter.recipientId !== undefined || filter.ownerId !== undefined || filter.addresses !== undefined;
  return answerList(
    {
      query,
      paths: accessPathsTo(query, needs, lists),
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
