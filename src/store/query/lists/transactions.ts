import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { TransactionFilter, TransactionQuery, Page } from "../../../../types/chain-queries.js";
import type { Transaction } from "../../../../types/chain.js";
import { andThen } from "../../../async/maybe-promise.js";
import type { Sliced } from "../../../async/time-slicing.js";
import { isPublicKey } from "../../../chain/address.js";
import { transactionList } from "../../../chain/lists.js";
import type { ChainRules } from "../../../chain/rules.js";
import { createTester } from "../../../chain/tester.js";
import type { StateRecord, WalletRecord } from "../../layout/codec.js";
import { numberAtEnd, numberKey, sets, textDigestLength, amountKey, lists } from "../../layout/keys.js";
import type { ReadSession } from "../../lmdb/read-session.js";
import {
  listSequence,
  rankedNumbers,
  type Sequence,
  arraySequence,
  concatSequences,
  rankedSequence,
  directed,
  emptySequence,
  mapSequence,
  unionSequence,
} from "../../records/sequence.js";
import { keyFrom } from "../../records/ranked-set.js";
import { existing, readTransaction, heightOf, transactionNumber, transactionsOfBlock } from "../../records/records.js";
import type { Comparable } from "../../records/sorting.js";
import {
  betweenKeys,
  keyOfNumber,
  keyOfText,
  listOf,
  numbersAt,
  onlyValue,
  underValue,
  type Window,
  windowSequence,
  withinWindow,
} from "../chain-order.js";
import { type AccessPath, amountBounds, answerList, type ListNeeds, numberBounds, towards } from "../list-query.js";
import { ownedByAny } from "../union.js";

interface TransactionNeeds extends Omit<ListNeeds, "delegates"> {
  wallet(address: string): WalletRecord | undefined;
}

/** Rows that are looked at in the time it takes to find and test a text, */
const rowsPerText = 5;
/** and in the time it takes to find the transactions of one. */
const rowsPerList = 40;
const stepTexts = 50;

/** Follows every number under a text. */
const afterAllNumbers = Buffer.alloc(5, 0xff);

/** Share of the time that looking at rows takes, or may take: this much is lost when there turn out to be too many texts. */
const worthTrying = 1 / 5;

const vendorHex = ({ vendorField }: Transaction): string | undefined =>
  vendorField === undefined ? undefined : Buffer.from(vendorField, "utf8").toString("hex");

/**
 * The transactions whose vendor field contains a part, as a list for each text that does. All transactions of one text are adjacent, so
 * one of each is looked at: few, where many say the same. Undefined where there are so many texts that it is better to look at rows.
 */
function* withVendorPart(
  hex: string,
  { reading, state, search }: Pick<ListNeeds, "reading" | "state" | "search">,
): Sliced<readonly Sequence<number>[] | undefined> {
  const set = sets.transactionsByVendorField;
  const most = worthTrying * Math.min(state.transactions, search.left);
  const found: Sequence<number>[] = [];
  let [texts, spent] = [0, 0];
  for (let key = keyFrom(reading, set, Buffer.alloc(0)); key !== undefined; ) {
    const text = key.subarray(0, textDigestLength);
    const beyond = Buffer.concat([text, numberKey(state.transactions)]);
    const number = numberAtEnd(key);
    const next = Buffer.concat([text, afterAllNumbers]);
    if (number >= state.transactions) {
      key = keyFrom(reading, set, next);
      continue;
    }
    const has = vendorHex(existing(readTransaction(reading, number), `transaction ${number}`))?.includes(hex) === true;
    spent += has ? rowsPerText + rowsPerList : rowsPerText;
    if (spent > most) return undefined;
    if (has) found.push(rankedNumbers(reading, set, text, beyond));
    if (++texts % stepTexts === 0) yield;
    key = keyFrom(reading, set, next);
  }
  search.spend(spent);
  return found;
}

type Name = keyof TransactionFilter;
type TransactionPath = AccessPath<number, TransactionFilter>;

/** What searches have found beforehand, as lists without a number in common. */
interface Gathered {
  /** Those of any of the filter's `addresses`. */
  ofAny?: readonly Sequence<number>[];
  /** Those whose vendor field contains the filter's `vendorFieldHex`. */
  withPart?: readonly Sequence<number>[] | undefined;
}

/** Every access path from which a query about transactions could be answered. */
function* accessPathsTo(query: TransactionQuery, within: Within, { ofAny, withPart }: Gathered): Iterable<TransactionPath> {
  yield* inChainOrder(query, within, ofAny);
  yield* ofOneValue(query, within);
  if (withPart !== undefined) yield { answers: ["vendorFieldHex"], ordered: false, refs: concatSequences(withPart) };
  yield* inOwnOrder(query, within);
}

const withinTimes = ({ timestamp }: TransactionFilter, needs: TransactionNeeds): Within => {
  const { reading, state, isPast } = needs;
  const window = timestamp === undefined ? { from: 0, below: state.transactions, exact: false } : numbersAt(timestamp, reading, state);
  const narrow = (sequence: Sequence<number>): Sequence<number> =>
    (timestamp === undefined && !isPast ? sequence : withinWindow(sequence, window));
  return { ...needs, window, narrow, answered: window.exact ? ["timestamp"] : [] };
};

interface Within extends TransactionNeeds {
  /** The part of the chain that the range of times leaves. */
  window: Window;
  narrow(sequence: Sequence<number>): Sequence<number>;
  /** Filters that the window has answered. */
  answered: readonly Name[];
}

/** Access paths whose references are in chain order: the order asked for if that is by `timestamp`, else candidates to be sorted. */
function* inChainOrder(query: TransactionQuery, within: Within, ofAny: readonly Sequence<number>[] | undefined): Iterable<TransactionPath> {
  const { filter, order } = query;
  const { reading, rules, window, narrow, answered } = within;
  const ordered = order.field === "timestamp";
  const path = (answers: Name[], ...parts: Sequence<number>[]): TransactionPath => {
    const refs = unionSequence(parts.map(narrow));
    return towards(order.direction, { answers: [...answers, ...answered], ordered, refs });
  };
  const ofAddress = (list: Parameters<typeof listOf>[0], address: string): Sequence<number> =>
    listOf(list, address, within.wallet(address), within);

  if (filter.id !== undefined) {
    const number = transactionNumber(reading, filter.id);
    yield path(["id"], number === undefined ? emptySequence : arraySequence([number]));
  }
  if (filter.blockId !== undefined) yield path(["blockId"], blockSequence(filter.blockId, reading));
  if (filter.recipientId !== undefined) yield path(["recipientId"], ofAddress("received", filter.recipientId));
  if (filter.ownerId !== undefined) yield path(["ownerId"], ofAddress("owned", filter.ownerId));
  if (ofAny !== undefined) yield path(["addresses"], ...ofAny);
  for (const [name, address] of senders(filter, rules)) {
    yield path([name], address === undefined ? emptySequence : ofAddress("sent", address));
    if (address !== undefined && filter.type === 3 && filter.typeGroup === 1)
      yield path([name, "type", "typeGroup"], ofAddress("voted", address));
  }
  if (filter.type !== undefined || filter.typeGroup !== undefined || filter.version !== undefined) {
    yield ofKinds(query, within);
  }
  yield path([], windowSequence(window));
}

const ofKinds = ({ filter, order }: TransactionQuery, within: Within): TransactionPath => {
  const kinds: Name[] = ["type", "typeGroup", "version"];
  const places = kindsOf(filter, within.state);
  const listsOf = (some: readonly number[]): Sequence<number>[] => some.map((place) => within.narrow(kindSequence(place, within)));
  const ordered = order.field === "timestamp";
  const refs = unionSequence(listsOf(places));
  const rest = [...within.state.kinds.keys()].filter((place) => !places.includes(place));
  const others = { answers: kinds, refs: () => concatSequences(listsOf(rest)) };
  return towards(order.direction, { answers: [...kinds, ...within.answered], ordered, refs, others });
};

/** Address of the sender, by filter; undefined for a text that is no public key. */
const senders = ({ senderId, senderPublicKey }: TransactionFilter, rules: ChainRules): [Name, string | undefined][] => [
  ...(senderId === undefined ? [] : [["senderId", senderId] as [Name, string]]),
  ...(senderPublicKey === undefined
    ? []
    : [["senderPublicKey", isPublicKey(senderPublicKey) ? rules.addressOf(senderPublicKey) : undefined] as [Name, string | undefined]]),
];

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

const kindSequence = (place: number, { reading, state }: TransactionNeeds): Sequence<number> =>
  listSequence(reading, lists.kind, place, state.kinds[place]?.count ?? 0);

const blockSequence = (blockId: string, reading: ReadSession): Sequence<number> => {
  const height = heightOf(reading, blockId);
  if (height === undefined) return emptySequence;
  const { first, count } = transactionsOfBlock(reading, height);
  return windowSequence({ from: first, below: first + count });
};

/** Access paths by sets in which the transactions of one value are in chain order. */
const ofOneValue = ({ filter, order }: TransactionQuery, { reading, window, answered }: Within): TransactionPath[] => {
  const paths: TransactionPath[] = [];
  const add = (name: Name, set: number, value: Buffer | undefined): void => {
    const refs = value === undefined ? emptySequence : underValue(reading, set, value, window);
    const ordered = order.field === "timestamp" || order.field === name;
    paths.push(towards(order.direction, { answers: [name, ...answered], ordered, refs }));
  };
  for (const [name, set] of [["amount", sets.transactionsByAmount], ["fee", sets.transactionsByFee]] as const) {
    const only = onlyValue(filter[name] ?? {});
    if (only !== undefined) add(name, set, amountKey(only));
  }
  const time = answered.length > 0 ? undefined : onlyValue(filter.timestamp ?? {});
  if (time !== undefined) add("timestamp", sets.transactionsByTimestamp, keyOfNumber(time));
  if (filter.nonce !== undefined) add("nonce", sets.transactionsByNonce, amountKey(filter.nonce));
  if (filter.vendorField !== undefined) add("vendorField", sets.transactionsByVendorField, keyOfText(filter.vendorField));
  return paths;
};

/** Access paths that are in the order asked for when that is not the chain's, and ranges that a set can answer. */
const inOwnOrder = ({ filter, order }: TransactionQuery, within: Within): TransactionPath[] => {
  const { reading, state, narrow, answered, isPast } = within;
  const paths: TransactionPath[] = [];
  const add = (name: "timestamp" | "amount" | "fee", set: number, bounds: [Buffer | undefined, Buffer | undefined]): void => {
    // Ordering by `timestamp` means by place in the chain, which is not the order of this set.
    const ordered = name !== "timestamp" && order.field === name;
    const { refs, others } = betweenKeys(reading, set, bounds);
    paths.push(towards(order.direction, { answers: [name], ordered, beyond: isPast, refs, others: { answers: [name], refs: others } }));
  };
  if (filter.timestamp !== undefined && answered.length === 0)
    add("timestamp", sets.transactionsByTimestamp, numberBounds(filter.timestamp));
  if (filter.amount !== undefined || order.field === "amount") add("amount", sets.transactionsByAmount, amountBounds(filter.amount ?? {}));
  if (filter.fee !== undefined || order.field === "fee") add("fee", sets.transactionsByFee, amountBounds(filter.fee ?? {}));
  if (order.field === "id") {
    const refs = mapSequence(rankedSequence(reading, sets.transactionsById), ({ value }) => value.readUInt32BE(0));
    paths.push({ answers: [], ordered: true, refs: directed(refs, order.direction) });
  }
  if (order.field === "type" || order.field === "version") {
    const field = order.field;
    const kinds = kindsOf(filter, state);
    const valueOf = (place: number): number => state.kinds[place]?.[field] ?? 0;
    const values = [...new Set(kinds.map(valueOf))].sort((a, b) => a - b);
    const ofValue = (value: number): Sequence<number> =>
      unionSequence(kinds.filter((place) => valueOf(place) === value).map((place) => narrow(kindSequence(place, within))));
    const refs = concatSequences(values.map(ofValue));
    paths.push({ answers: ["type", "typeGroup", "version", ...answered], ordered: true, refs: directed(refs, order.direction) });
  }
  return paths;
};

/** Answers a list query. References are numbers, which are places in the chain. */
export const askTransactions = (query: TransactionQuery, needs: TransactionNeeds): MaybePromise<Page<Transaction>> =>
  andThen(gathered(query.filter, needs), (lists) => answer(query, needs, lists));

const gathered = (filter: TransactionFilter, needs: TransactionNeeds): MaybePromise<Gathered> => {
  const { addresses, vendorFieldHex, ...others } = filter;
  if (addresses !== undefined) return andThen(ownedByAny(addresses, needs), (ofAny) => ({ ofAny }));
  // Any other filter mostly leaves fewer rows than there are texts.
  if (vendorFieldHex === undefined || Object.keys(others).length > 0) return {};
  return andThen(needs.search.run(withVendorPart(vendorFieldHex, needs)), (withPart) => ({ withPart }));
};

const testerOf = ({ recipientsOf }: ChainRules) => {
  const owners = (transaction: Transaction): readonly string[] => [transaction.senderId, ...recipientsOf(transaction)];
  return createTester<TransactionFilter, Transaction>(transactionList.filters, {
    recipientId: recipientsOf,
    ownerId: owners,
    addresses: owners,
    vendorFieldHex: vendorHex,
  });
};

const answer = (
  query: TransactionQuery,
  needs: TransactionNeeds,
  lists: Gathered,
): MaybePromise<Page<Transaction>> => {
  const { order } = query;
  const { reading, rules, search } = needs;
  const last = needs.state.tip.height;
  const within = withinTimes(query.filter, needs);
  const test = testerOf(rules);
  return answerList(
    {
      query,
      paths: accessPathsTo(query, within, lists),
      load: (number: number): Transaction => existing(readTransaction(reading, number), `transaction ${number}`),
      test: (asked, answered) => {
        const passes = test(asked, answered);
        return passes && ((transaction) => transaction.blockHeight <= last && passes(transaction));
      },
      value: valueOf(order.field),
      ties: "desc",
      window: { ...within.window, answers: within.answered },
    },
    search,
  );
};

const valueOf = (field: TransactionQuery["order"]["field"]): ((transaction: Transaction) => Comparable) | undefined =>
  field === "timestamp" ? undefined : (transaction) => transaction[field];
