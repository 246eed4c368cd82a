import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { Page, WalletFilter, WalletOrder, WalletQuery } from "../../../../types/chain-queries.js";
import type { Delegate, Wallet } from "../../../../types/chain.js";
import { PorticoError } from "../../../errors.js";
import type { WalletRecord } from "../../layout/codec.js";
import { walletList } from "../../../chain/lists.js";
import { createTester, within } from "../../../chain/tester.js";
import { canBeKey, idKey, numberKey, sets, textKey } from "../../layout/keys.js";
import type { ReadSession } from "../../lmdb/read-session.js";
import { readWallet, existing } from "../../records/records.js";
import {
  arraySequence,
  concatSequences,
  rankedSequence,
  directed,
  emptySequence,
  mapSequence,
  reverseSequence,
  type Sequence,
  withoutKeys,
} from "../../records/sequence.js";
import { balanceDescending, publicKeyAscending, publicKeyPart, secondPublicKeyEntry, isFilled } from "../../write/account-indexes.js";
import { type AccessPath, answerList, descendingBounds, type ListNeeds, towards } from "../list-query.js";
import { type DelegateList, keptWith } from "./delegate-list.js";
import { delegatesBy } from "./delegates.js";

export const walletTester = createTester<WalletFilter, Wallet>(walletList.filters);

type Name = keyof WalletFilter;
type WalletPath = AccessPath<string, WalletFilter>;

interface Needs {
  reading: ReadSession;
  delegates: DelegateList;
}

/** Every access path from which a query about wallets could be answered. */
const accessPathsTo = (query: WalletQuery, needs: Needs): WalletPath[] => {
  const { filter } = query;
  const paths = namedOutright(query, needs.reading);
  if (!nobodyElse(filter)) return [...paths, ...inSets(query, needs)];
  return [...paths, ofDelegates(query, needs.delegates)];
};

const addressIn = (value: unknown): string => (value as Buffer).toString("utf8");

/** Access paths that name wallets outright. */
const namedOutright = ({ filter, order }: WalletQuery, reading: ReadSession): WalletPath[] => {
  const paths: WalletPath[] = [];
  const add = (name: Name, addresses: string[]): void => {
    const known = addresses.filter((address) => readWallet(reading, address) !== undefined);
    paths.push({ answers: [name], ordered: known.length < 2, refs: arraySequence(known) });
  };
  const found = (value: unknown): string[] => (value === undefined ? [] : [addressIn(value)]);

  if (filter.address !== undefined) add("address", [filter.address]);
  if (filter.addresses !== undefined) add("addresses", [...new Set(filter.addresses)]);
  if (filter.publicKey !== undefined) add("publicKey", found(reading.get("publicKeys", idKey(filter.publicKey))));
  if (filter.username !== undefined) add("username", found(reading.get("usernames", textKey(filter.username))));
  if (filter.secondPublicKey !== undefined) {
    const refs = havingSecondPublicKey(filter.secondPublicKey, reading);
    const ordered = order.field === "address" || refs.total < 2;
    paths.push(towards(order.direction, { answers: ["secondPublicKey"], ordered, refs }));
  }
  return paths;
};

/** In order of address. */
const havingSecondPublicKey = (publicKey: string, reading: ReadSession): Sequence<string> => {
  const start = secondPublicKeyEntry(publicKey, "");
  if (!canBeKey(start)) return emptySequence;
  const range = { start, end: Buffer.concat([start, Buffer.from([0xff])]) };
  const slice = (offset: number, limit: number): string[] =>
    [...reading.range("secondPublicKeys", { ...range, offset, limit })].map(({ value }) => addressIn(value));
  const total = reading.count("secondPublicKeys", range);
  if (/^[0-9a-f]{66}$/.test(publicKey)) return { total, slice };
  // In an entry the address follows the key, so a text that is only the beginning of a key finds more than is asked for.
  return arraySequence(slice(0, total).filter((address) => readWallet(reading, address)?.secondPublicKey === publicKey));
};

/** Filters by what only delegates can have other than 0. */
const ofDelegatesOnly = (filter: WalletFilter): ((delegate: Delegate) => boolean) => {
  const { voteBalance = {}, producedBlocks = {} } = filter;
  return (delegate) => within(voteBalance, delegate.voteBalance) && within(producedBlocks, delegate.producedBlocks);
};
const answered = ["voteBalance", "producedBlocks"] as const satisfies Name[];

/** Whether only wallets of delegates can pass. */
const nobodyElse = ({ voteBalance = {}, producedBlocks = {} }: WalletFilter): boolean =>
  !within(voteBalance, 0n) || !within(producedBlocks, 0);

/** In the order asked for: the list of delegates has all that wallets are filtered and ordered by. */
const ofDelegates = ({ filter, order }: WalletQuery, delegates: DelegateList): WalletPath => {
  const ordered = isOfDelegates(order.field);
  const field = isOfDelegates(order.field) ? order.field : "address";
  const passing = delegatesBy({ ...order, field, ties: "address" }, delegates).filter(ofDelegatesOnly(filter));
  const passes = walletTester(filter, new Set([...answered, ...ofWallets]));
  const asWallet = (delegate: Delegate): Wallet => ({ ...noWallet, ...delegate, secondPublicKey: delegates.secondPublicKeys.get(delegate.address) ?? null });
  const rows = passes === undefined ? passing : passing.filter((delegate) => passes(asWallet(delegate)));
  const answers = (Object.keys(filter) as Name[]).filter((name) => !ofWallets.has(name));
  return { answers, ordered, refs: addresses(rows) };
};

/** What a wallet has beyond a delegate: the list of delegates does not filter or order by it. */
const noWallet = { lockedBalance: 0n, nonce: 0n, multiSignature: null, isDelegate: true } as const;
const ofWallets: ReadonlySet<Name> = new Set(Object.keys(noWallet) as Name[]);
const isOfDelegates = (field: WalletOrder): field is WalletOrder & keyof Delegate => !ofWallets.has(field);

const addresses = (delegates: readonly Delegate[]): Sequence<string> => mapSequence(arraySequence(delegates), ({ address }) => address);

/** Where delegates stand in a set of wallets, in its order. */
const placesBy = (keyOf: (delegate: Delegate) => Buffer): ((delegates: DelegateList) => readonly { delegate: Delegate; key: Buffer }[]) =>
  keptWith(({ all }) => all.map((delegate) => ({ delegate, key: keyOf(delegate) })).sort((a, b) => a.key.compare(b.key)));

const places = { address: placesBy(({ address }) => textKey(address)), balance: placesBy(balanceDescending), publicKey: placesBy(publicKeyAscending) };

/** The keys of some delegates in a set of wallets, in its order. */
const keysOf = (set: keyof typeof places, { delegates }: Needs, some: (delegate: Delegate) => boolean): Buffer[] =>
  places[set](delegates)
    .filter(({ delegate }) => some(delegate))
    .map(({ key }) => key);

/** The part of a set between two keys, without the keys of some delegates that are in it. */
const partOf = ({ reading }: Needs, { set, from, to }: { set: number; from?: Buffer | undefined; to?: Buffer | undefined }, leftOut: readonly Buffer[]): Sequence<string> =>
  mapSequence(withoutKeys(rankedSequence(reading, set, from, to), leftOut), ({ value }) => addressIn(value));

const asksNonce = ({ filter, order }: WalletQuery): boolean => filter.nonce !== undefined || order.field === "nonce";

const opposite = { asc: "desc", desc: "asc" } as const;

/** Access paths to all wallets, without the delegates that do not pass. */
const inSets = (query: WalletQuery, needs: Needs): WalletPath[] => {
  const { filter, order } = query;
  const passes = ofDelegatesOnly(filter);
  const everyonePasses = filter.voteBalance === undefined && filter.producedBlocks === undefined;
  const failing = (set: keyof typeof places, among: (delegate: Delegate) => boolean = () => true): Buffer[] =>
    everyonePasses ? [] : keysOf(set, needs, (delegate) => among(delegate) && !passes(delegate));
  const paths: WalletPath[] = [];
  /** The sets by balance run from the highest down. */
  const addByBalance = (answers: Name[], refs: Sequence<string>): void => {
    paths.push(
      towards(opposite[order.direction], { answers: [...answers, "balance", ...answered], ordered: order.field === "balance", refs }),
    );
  };
  const add = (refs: Sequence<string>): void => void paths.push({ answers: [...answered], ordered: true, refs });

  const { balance = {} } = filter;
  if (filter.vote !== undefined) {
    const number = voteNumber(filter.vote, needs);
    if (number === undefined) addByBalance(["vote"], emptySequence);
    else {
      const prefix = numberKey(number);
      const voters = failing("balance", (delegate) => delegate.vote === filter.vote && within(balance, delegate.balance));
      const [from, to] = descendingBounds(balance, prefix);
      addByBalance(["vote"], partOf(needs, { set: sets.votersByBalance, from, to }, voters.map((key) => Buffer.concat([prefix, key]))));
    }
  }
  // The voters of one delegate are fewer than all wallets, whatever else is asked.
  else {
    const [from, to] = descendingBounds(balance);
    addByBalance([], partOf(needs, { set: sets.walletsByBalance, from, to }, failing("balance", (delegate) => within(balance, delegate.balance))));
  }
  if (asksNonce(query) && isFilled(needs.reading, sets.walletsByNonce)) {
    const [from, to] = descendingBounds(filter.nonce ?? {});
    const refs = partOf(needs, { set: sets.walletsByNonce, from, to }, []);
    paths.push(towards(opposite[order.direction], { answers: ["nonce"], ordered: order.field === "nonce", refs }));
  }
  if (order.field === "address") add(directed(partOf(needs, { set: sets.walletsByAddress }, failing("address")), order.direction));
  if (order.field === "publicKey") {
    const known = partOf(needs, { set: sets.walletsByPublicKey, from: publicKeyPart.known, to: publicKeyPart.unknown }, failing("publicKey"));
    const unknown = partOf(needs, { set: sets.walletsByPublicKey, from: publicKeyPart.unknown, to: publicKeyPart.end }, []);
    add(concatSequences([directed(known, order.direction), unknown]));
  }
  if (order.field === "username" || order.field === "voteBalance") add(byDelegates(order.field, query, needs));
  return paths;
};

const voteNumber = (publicKey: string, { reading, delegates }: Needs): number | undefined => {
  const delegate = delegates.byPublicKey.get(publicKey);
  return delegate === undefined ? undefined : readWallet(reading, delegate.address)?.number;
};

/** Orders by what only delegates have. Wallets that are equal in that order go by address. */
const byDelegates = (field: "username" | "voteBalance", { filter, order: { direction } }: WalletQuery, needs: Needs): Sequence<string> => {
  const passes = ofDelegatesOnly(filter);
  const sorted = delegatesBy({ field, direction, ties: "address" }, needs.delegates).filter(passes);
  const withoutThose = (leftOut: (delegate: Delegate) => boolean): Sequence<string> =>
    partOf(needs, { set: sets.walletsByAddress }, keysOf("address", needs, (delegate) => leftOut(delegate) || !passes(delegate)));
  // Wallets without a username come last in both directions.
  if (field === "username") return concatSequences([addresses(sorted), withoutThose(() => true)]);
  // A vote balance of 0 is what all have who are no delegates.
  const positive = addresses(sorted.filter(({ voteBalance }) => voteBalance > 0n));
  const zero = withoutThose(({ voteBalance }) => voteBalance !== 0n);
  const negative = addresses(sorted.filter(({ voteBalance }) => voteBalance < 0n));
  return concatSequences(direction === "desc" ? [positive, zero, negative] : [negative, reverseSequence(zero), positive]);
};

/** A wallet as clients see it, with what it has as a delegate. */
export const presentWallet = (
  record: WalletRecord,
  delegate: Pick<Delegate, "voteBalance" | "producedBlocks" | "forgedFees" | "forgedRewards" | "rank"> | undefined,
): Wallet => ({
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
  forgedFees: delegate?.forgedFees ?? 0n,
  forgedRewards: delegate?.forgedRewards ?? 0n,
  rank: delegate?.rank ?? null,
});

type WalletNeeds = Pick<ListNeeds, "reading" | "delegates" | "search">;

/** A search that is too wide only while the set for it is being filled is refused for now. */
const unlessFilling = async <T>(answer: () => MaybePromise<T>): Promise<T> => {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof PorticoError && error.code === "SEARCH_TOO_WIDE")) throw error;
    const message = "The index of wallets by nonce is being filled: ask again later, or narrow the search.";
    throw new PorticoError("NOT_READY", message, { cause: error });
  }
};

/** Answers a list query. References are addresses. */
export const askWallets = (query: WalletQuery, needs: WalletNeeds): MaybePromise<Page<Wallet>> => {
  const isMissing = asksNonce(query) && !isFilled(needs.reading, sets.walletsByNonce);
  return isMissing ? unlessFilling(() => answer(query, needs)) : answer(query, needs);
};

const answer = (query: WalletQuery, { reading, search, ...given }: WalletNeeds): MaybePromise<Page<Wallet>> => {
  const delegates = given.delegates();
  return answerList(
    {
      query,
      paths: accessPathsTo(query, { reading, delegates }),
      load: (address: string) =>
        presentWallet(existing(readWallet(reading, address), `wallet ${address}`), delegates.byAddress.get(address)),
      test: walletTester,
      value: (wallet) => wallet[query.order.field],
      ties: "asc",
    },
    search,
  );
};
