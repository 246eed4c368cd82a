import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { Page, TransactionFilter, TransactionQuery } from "../../../../types/chain-queries.js";
import type { Transaction } from "../../../../types/chain.js";
import type { ChainRules } from "../../../chain/rules.js";
import { andThen } from "../../../async/maybe-promise.js";
import type { StateRecord, WalletRecord } from "../../layout/codec.js";
import { transactionTester } from "../filters.js";
import { amountBounds, answerList } from "../list-query.js";
import { asksOnly, type RangeOf, withinRanges } from "../past-ranges.js";
import { sets } from "../../layout/keys.js";
import type { Reading } from "../../lmdb/reading.js";
import { existing, readTransaction } from "../../records/records.js";
import type { Search } from "../search.js";
import type { Comparable } from "../../records/sorting.js";
import { accessPathsTo, type Gathered } from "./transaction-access-paths.js";
import { ownedByAny } from "../union.js";
import { withVendorPart } from "../vendor-field-scan.js";

interface TransactionNeeds {
  reading: Reading;
  state: StateRecord;
  rules: ChainRules;
  search: Search;
  wallet(address: string): WalletRecord | undefined;
  /** Whether `state` is an earlier one than what is read. */
  isPast: boolean;
}

/** Answers a list query. References are numbers, which are places in the chain. */
export const askTransactions = (query: TransactionQuery, needs: TransactionNeeds): MaybePromise<Page<Transaction>> =>
  andThen(gathered(query.filter, needs), (lists) => answer(query, needs, lists));

const gathered = (filter: TransactionFilter, needs: TransactionNeeds): MaybePromise<Gathered> => {
  const { addresses, vendorFieldHex, ...others } = filter;
  const ranges = needs.isPast ? rangesOnly(filter) : [];
  if (ranges.length > 0) return andThen(needs.search.run(withinRanges(ranges, needs.state.transactions, needs)), (refs) => ({ ofRanges: { answers: ranges.map(({ name }) => name), refs } }));
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
  const last = needs.state.tip.height;
  const withRecipients = filter.recipientId !== undefined || filter.ownerId !== undefined || filter.addresses !== undefined;
  return answerList(
    {
      query,
      paths: accessPathsTo(query, needs, lists),
      load: (number: number): Transaction => existing(readTransaction(reading, number), `transaction ${number}`),
      test: (asked, answered) => {
        const passes = transactionTester(asked, answered);
        return passes && ((transaction) => transaction.blockHeight <= last && passes({ transaction, recipients: withRecipients ? rules.recipientsOf(transaction) : [] }));
      },
      value: valueOf(order.field),
      ties: "desc",
      below: needs.state.transactions,
    },
    search,
  );
};

/** The ranges of a filter that asks for nothing else, beside a range of times. */
const rangesOnly = (filter: TransactionFilter): RangeOf<"amount" | "fee">[] => {
  const { amount, fee } = filter;
  if (!asksOnly(filter, ["amount", "fee", "timestamp"])) return [];
  return [
    ...(amount === undefined ? [] : [{ name: "amount" as const, set: sets.transactionsByAmount, bounds: amountBounds(amount) }]),
    ...(fee === undefined ? [] : [{ name: "fee" as const, set: sets.transactionsByFee, bounds: amountBounds(fee) }]),
  ];
};

const valueOf = (field: TransactionQuery["order"]["field"]): ((transaction: Transaction) => Comparable) | undefined =>
  field === "timestamp" ? undefined : (transaction) => transaction[field];
