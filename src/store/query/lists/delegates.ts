import type { Delegate } from "../../../../types/chain.js";
import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { DelegateFilter, DelegateOrder, DelegateQuery, Page, WalletOrder } from "../../../../types/chain-queries.js";
import { atOnce } from "../../../async/time-slicing.js";
import { delegateList } from "../../../chain/lists.js";
import { createTester } from "../../../chain/tester.js";
import { type DelegateList, keptWith } from "./delegate-list.js";
import { type AccessPath, answerList } from "../list-query.js";
import { existing } from "../../records/records.js";
import type { Search } from "../search.js";
import { arraySequence, mapSequence, type Sequence } from "../../records/sequence.js";
import { comparisonOf, countBefore } from "../../records/sorting.js";

interface SortedBy {
  field: keyof Delegate & (DelegateOrder | WalletOrder);
  direction: "asc" | "desc";
  /** What delegates of equal value are ordered by. */
  ties: "username" | "address";
}

const orders = keptWith(() => new Map<string, readonly Delegate[]>());

/** All delegates of a tip in an order: sorted once, when it is first asked for. */
export const delegatesBy = ({ field, direction, ties }: SortedBy, delegates: DelegateList): readonly Delegate[] => {
  const known = orders(delegates);
  const name = `${field}:${direction} ${ties}`;
  const sorted =
    known.get(name) ??
    [...delegates.all].sort(
      comparisonOf({ direction, value: (delegate) => delegate[field] ?? null, key: (delegate) => delegate[ties], ties: "asc" }),
    );
  known.set(name, sorted);
  return sorted;
};

/** Answers a list query, at once: all delegates are in memory. References are usernames. */
export const askDelegates = (query: DelegateQuery, delegates: DelegateList): MaybePromise<Page<Delegate>> =>
  answerList(
    {
      query,
      paths: accessPathsTo(query, delegates),
      load: (username: string) => existing(delegates.byUsername.get(username), `delegate ${username}`),
      test: createTester<DelegateFilter, Delegate>(delegateList.filters, {
        secondPublicKey: ({ address }) => delegates.secondPublicKeys.get(address) ?? null,
      }),
      value: (delegate) => delegate[query.order.field] ?? null,
      ties: "asc",
    },
    unbounded,
  );

/** Delegates are too few to take turns with other searches. */
const unbounded: Search = {
  run: atOnce,
  left: Infinity,
  require: () => undefined,
  spend: () => undefined,
};

type DelegatePath = AccessPath<string, DelegateFilter>;

/** Every access path from which a query about delegates could be answered. */
const accessPathsTo = (query: DelegateQuery, delegates: DelegateList): DelegatePath[] => [
  ...namedOutright(query, delegates),
  ...ofOneValue(query, delegates),
  ...inRanges(query, delegates),
  { answers: [], ordered: true, refs: usernames(delegatesBy({ ...query.order, ties: "username" }, delegates)) },
];

const usernames = (delegates: readonly Delegate[]): Sequence<string> => mapSequence(arraySequence(delegates), ({ username }) => username);

/** By what identifies delegates, or by a part of the username. */
const namedOutright = ({ filter }: DelegateQuery, { all, byAddress, byPublicKey, byUsername }: DelegateList): DelegatePath[] => {
  const paths: DelegatePath[] = [];
  const add = (name: keyof DelegateFilter, found: (Delegate | undefined)[]): void => {
    const known = found.filter((delegate) => delegate !== undefined);
    paths.push({ answers: [name], ordered: known.length < 2, refs: usernames(known) });
  };
  if (filter.address !== undefined) add("address", [byAddress.get(filter.address)]);
  if (filter.publicKey !== undefined) add("publicKey", [byPublicKey.get(filter.publicKey)]);
  if (filter.usernames !== undefined) add("usernames", [...new Set(filter.usernames)].map((username) => byUsername.get(username)));
  const { username: part } = filter;
  if (part !== undefined) add("username", all.filter(({ username }) => username.includes(part)));
  return paths;
};

const groupsBy = (valueOf: (delegate: Delegate, delegates: DelegateList) => string | boolean | null) =>
  keptWith((delegates) => {
    const groups = new Map<string | boolean | null, Delegate[]>();
    for (const delegate of delegates.all) {
      const value = valueOf(delegate, delegates);
      const group = groups.get(value);
      if (group === undefined) groups.set(value, [delegate]);
      else group.push(delegate);
    }
    return groups;
  });

const groups = {
  vote: groupsBy(({ vote }) => vote),
  resigned: groupsBy(({ resigned }) => resigned),
  secondPublicKey: groupsBy(({ address }, { secondPublicKeys }) => secondPublicKeys.get(address) ?? null),
};

const ofOneValue = ({ filter }: DelegateQuery, delegates: DelegateList): DelegatePath[] =>
  (["vote", "resigned", "secondPublicKey"] as const).flatMap((name): DelegatePath[] => {
    const wanted = filter[name];
    return wanted === undefined ? [] : [{ answers: [name], ordered: false, refs: usernames(groups[name](delegates).get(wanted) ?? []) }];
  });

const ranges = [
  "balance",
  "approval",
  "forgedFees",
  "forgedRewards",
  "forgedTotal",
  "producedBlocks",
  "missedBlocks",
  "productivity",
  "voteBalance",
  "voters",
] as const;

const inRanges = ({ filter }: DelegateQuery, delegates: DelegateList): DelegatePath[] =>
  ranges.flatMap((name): DelegatePath[] => {
    const range = filter[name];
    if (range === undefined) return [];
    const { from = -Infinity, to = Infinity } = range;
    const sorted = delegatesBy({ field: name, direction: "asc", ties: "username" }, delegates);
    // Those without a value come last, and are in no range.
    const valueOf = (delegate: Delegate): number | bigint => delegate[name] ?? NaN;
    const start = countBefore(sorted, (delegate) => valueOf(delegate) < from);
    const end = countBefore(sorted, (delegate) => valueOf(delegate) <= to);
    return [{ answers: [name], ordered: false, refs: usernames(sorted.slice(start, end)) }];
  });
