import type { Transaction } from "../../types/chain.js";
import type { Page, TransactionFilter, TransactionQuery } from "../../types/chain-adapter.js";
import type { ChainRules } from "../chain/rules.js";
import { listSequence } from "./appended-list.js";
import type { StateRecord } from "./codec.js";
import { lists, sets } from "./keys.js";
import { transactionTester } from "./match.js";
import { type Access, amountBounds, answerList, numberBounds, sortRows } from "./question.js";
import type { Reading } from "./reading.js";
import { existing, heightOf, readTransaction, readWallet, transactionNumber, transactionsOfBlock } from "./records.js";
import {
  arraySequence,
  concatSequences,
  countedSequence,
  directed,
  emptySequence,
  mapSequence,
  numberSequence,
  type Sequence,
  unionSequence,
} from "./sequence.js";

type TransactionAccess = Access<number, TransactionFilter>;

/** A transaction with its number, which is its place in the chain. */
interface Row {
  number: number;
  transaction: Transaction;
  recipients: readonly string[];
}

/** A key of a transaction set ends in the transaction's number. */
const numberInKey = ({ key }: { key: Buffer }): number => key.readUInt32BE(key.length - 4);

export const askTransactions = (query: TransactionQuery, reading: Reading, state: StateRecord, rules: ChainRules): Page<Transaction> => {
  const { filter, order } = query;
  const page = answerList<number, Row, TransactionFilter, TransactionQuery["order"]["field"]>({
    query,
    accesses: accessesTo(query, reading, state, rules),
    load: (number) => {
      const transaction = existing(readTransaction(reading, number), `transaction ${number}`);
      return { number, transaction, recipients: needsRecipients(filter) ? rules.recipientsOf(transaction) : [] };
    },
    test: transactionTester,
    sort: (rows) => sortRows(rows, order.direction, orderValue[order.field], ({ number }) => number, "desc"),
  });
  return { rows: page.rows.map(({ transaction }) => transaction), total: page.total };
};

const needsRecipients = ({ recipientId, ownerId, addresses }: TransactionFilter): boolean =>
  recipientId !== undefined || ownerId !== undefined || addresses !== undefined;

const orderValue: Record<TransactionQuery["order"]["field"], (row: Row) => string | number | bigint> = {
  timestamp: ({ number }) => number,
  type: ({ transaction }) => transaction.type,
  version: ({ transaction }) => transaction.version,
  amount: ({ transaction }) => transaction.amount,
  fee: ({ transaction }) => transaction.fee,
  id: ({ transaction }) => transaction.id,
};

const accessesTo = (query: TransactionQuery, reading: Reading, state: StateRecord, rules: ChainRules): TransactionAccess[] => [
  ...inChainOrder(query, reading, state, rules),
  ...inOwnOrder(query, reading, state),
];

/** Accesses whose references are in chain order: all that there is for `timestamp`, candidates for the other orders. */
const inChainOrder = ({ filter, order }: TransactionQuery, reading: Reading, state: StateRecord, rules: ChainRules): TransactionAccess[] => {
  const accesses: TransactionAccess[] = [];
  const add = (answers: (keyof TransactionFilter)[], refs: Sequence<number>): void => {
    const ordered = order.field === "timestamp";
    accesses.push({ answers, ordered, refs: ordered ? directed(refs, order.direction) : refs });
  };
  const listOf = (list: "sent" | "received" | "owned", address: string): Sequence<number> => {
    const wallet = readWallet(reading, address);
    return wallet === undefined ? emptySequence : listSequence(reading, lists[list], wallet.number, wallet[list]);
  };

  add([], numberSequence(state.transactions));
  add(["type", "typeGroup", "version"], kindSequence(kindsOf(filter, state), reading, state));
  if (filter.id !== undefined) {
    const number = transactionNumber(reading, filter.id);
    add(["id"], number === undefined ? emptySequence : arraySequence([number]));
  }
  if (filter.blockId !== undefined) add(["blockId"], blockSequence(filter.blockId, reading));
  if (filter.recipientId !== undefined) add(["recipientId"], listOf("received", filter.recipientId));
  if (filter.ownerId !== undefined) add(["ownerId"], listOf("owned", filter.ownerId));
  if (filter.addresses !== undefined) {
    const numbers = new Set<number>();
    for (const address of new Set(filter.addresses)) {
      const owned = listOf("owned", address);
      for (const number of owned.slice(0, owned.total)) numbers.add(number);
    }
    add(["addresses"], arraySequence([...numbers].sort((a, b) => a - b)));
  }
  for (const [name, address] of senders(filter, rules)) {
    const wallet = readWallet(reading, address);
    if (wallet === undefined) add([name], emptySequence);
    else {
      add([name], listSequence(reading, lists.sent, wallet.number, wallet.sent));
      if (filter.type === 3 && filter.typeGroup === 1) add([name, "type", "typeGroup"], listSequence(reading, lists.voted, wallet.number, wallet.voted));
    }
  }
  return accesses;
};

const senders = ({ senderId, senderPublicKey }: TransactionFilter, rules: ChainRules): [keyof TransactionFilter, string][] => [
  ...(senderId === undefined ? [] : [["senderId", senderId] as [keyof TransactionFilter, string]]),
  ...(senderPublicKey === undefined || !isPublicKey(senderPublicKey)
    ? []
    : [["senderPublicKey", rules.addressOf(senderPublicKey)] as [keyof TransactionFilter, string]]),
];

const isPublicKey = (text: string): boolean => /^0[23][0-9a-f]{64}$/.test(text);

/** Places of the kinds present in the chain that the filter lets through. */
const kindsOf = ({ type, typeGroup, version }: TransactionFilter, { kinds }: StateRecord): number[] =>
  [...kinds.keys()].filter((place) => {
    const kind = kinds[place];
    return (
      (type === undefined || kind?.type === type) &&
      (typeGroup === undefined || kind?.typeGroup === typeGroup) &&
      (version === undefined || kind?.version === version)
    );
  });

const kindSequence = (places: readonly number[], reading: Reading, { kinds, transactions }: StateRecord): Sequence<number> =>
  unionSequence(
    places.map((place) => listSequence(reading, lists.kind, place, kinds[place]?.count ?? 0)),
    transactions,
  );

const blockSequence = (blockId: string, reading: Reading): Sequence<number> => {
  const height = heightOf(reading, blockId);
  if (height === undefined) return emptySequence;
  const { first, count } = transactionsOfBlock(reading, height);
  return mapSequence(numberSequence(count), (number) => first + number);
};

/** Accesses that are in the order asked for when that is not the chain's, and ranges that a set holds. */
const inOwnOrder = ({ filter, order }: TransactionQuery, reading: Reading, state: StateRecord): TransactionAccess[] => {
  const accesses: TransactionAccess[] = [];
  const add = (name: "timestamp" | "amount" | "fee", set: number, bounds: [Buffer | undefined, Buffer | undefined]): void => {
    // Ordering by `timestamp` means by place in the chain, which is not the order of this set.
    const ordered = name !== "timestamp" && order.field === name;
    const refs = mapSequence(countedSequence(reading, set, ...bounds), numberInKey);
    accesses.push({ answers: [name], ordered, refs: ordered ? directed(refs, order.direction) : refs });
  };
  if (filter.timestamp !== undefined) add("timestamp", sets.transactionsByTimestamp, numberBounds(filter.timestamp));
  if (filter.amount !== undefined || order.field === "amount") add("amount", sets.transactionsByAmount, amountBounds(filter.amount ?? {}));
  if (filter.fee !== undefined || order.field === "fee") add("fee", sets.transactionsByFee, amountBounds(filter.fee ?? {}));
  if (order.field === "id") {
    const refs = mapSequence(countedSequence(reading, sets.transactionsById), ({ value }) => value.readUInt32BE(0));
    accesses.push({ answers: [], ordered: true, refs: directed(refs, order.direction) });
  }
  if (order.field === "type" || order.field === "version") {
    const field = order.field;
    const kinds = kindsOf(filter, state);
    const valueOf = (place: number): number => state.kinds[place]?.[field] ?? 0;
    const values = [...new Set(kinds.map(valueOf))].sort((a, b) => a - b);
    const refs = concatSequences(
      values.map((value) => kindSequence(kinds.filter((place) => valueOf(place) === value), reading, state)),
    );
    accesses.push({ answers: ["type", "typeGroup", "version"], ordered: true, refs: directed(refs, order.direction) });
  }
  return accesses;
};
