import type { Delegate } from "../../types/chain.js";
import type { WalletFilter, WalletQuery } from "../../types/chain-adapter.js";
import type { DelegateList } from "./delegate-list.js";
import { canBeKey, idKey, numberKey, sets, textKey } from "./keys.js";
import { walletTester, within } from "./match.js";
import { type Access, descendingBounds } from "./question.js";
import type { Reading } from "./reading.js";
import { readWallet } from "./records.js";
import { arraySequence, concatSequences, countedSequence, directed, emptySequence, mapSequence, reverseSequence, type Sequence, withoutItems } from "./sequence.js";
import { comparisonOf } from "./sorting.js";
import { balanceDescending, publicKeyAscending, publicKeyPart, secondPublicKeyEntry } from "./wallet-index.js";

type Name = keyof WalletFilter;
type WalletAccess = Access<string, WalletFilter>;

interface Needs {
  reading: Reading;
  delegates: DelegateList;
}

/** Every way to the wallets that a question could be answered from. */
export const accessesTo = (query: WalletQuery, needs: Needs): WalletAccess[] => {
  const { filter } = query;
  const accesses = namedOutright(query, needs.reading);
  if (!nobodyElse(filter)) return [...accesses, ...inSets(query, needs)];
  return [...accesses, ofDelegates(query, needs.delegates)];
};

const addressIn = (value: unknown): string => (value as Buffer).toString("utf8");

/** Accesses that name wallets outright. */
const namedOutright = ({ filter, order }: WalletQuery, reading: Reading): WalletAccess[] => {
  const accesses: WalletAccess[] = [];
  const add = (name: Name, addresses: string[]): void => {
    const known = addresses.filter((address) => readWallet(reading, address) !== undefined);
    accesses.push({ answers: [name], ordered: known.length < 2, refs: arraySequence(known) });
  };
  const found = (value: unknown): string[] => (value === undefined ? [] : [addressIn(value)]);

  if (filter.address !== undefined) add("address", [filter.address]);
  if (filter.addresses !== undefined) add("addresses", [...new Set(filter.addresses)]);
  if (filter.publicKey !== undefined) add("publicKey", found(reading.get("publicKeys", idKey(filter.publicKey))));
  if (filter.username !== undefined) add("username", found(reading.get("usernames", textKey(filter.username))));
  if (filter.secondPublicKey !== undefined) {
    const refs = havingSecondPublicKey(filter.secondPublicKey, reading);
    const ordered = order.field === "address" || refs.total < 2;
    accesses.push({ answers: ["secondPublicKey"], ordered, refs: ordered ? directed(refs, order.direction) : refs });
  }
  return accesses;
};

/** By address. */
const havingSecondPublicKey = (publicKey: string, reading: Reading): Sequence<string> => {
  const start = secondPublicKeyEntry(publicKey, "");
  if (!canBeKey(start)) return emptySequence;
  const range = { start, end: Buffer.concat([start, Buffer.from([0xff])]) };
  const slice = (offset: number, limit: number): string[] =>
    [...reading.range("secondPublicKeys", { ...range, offset, limit })].map(({ value }) => addressIn(value));
  const total = reading.count("secondPublicKeys", range);
  if (/^[0-9a-f]{66}$/.test(publicKey)) return { total, slice };
  // The addresses' own bytes follow the key's, so a text that is only the beginning of a key finds more than is asked for.
  return arraySequence(slice(0, total).filter((address) => readWallet(reading, address)?.secondPublicKey === publicKey));
};

/** Filters by what delegates alone can have other than 0. */
const ofDelegatesOnly = (filter: WalletFilter): ((delegate: Delegate) => boolean) => {
  const { voteBalance = {}, producedBlocks = {} } = filter;
  return (delegate) => within(voteBalance, delegate.voteBalance) && within(producedBlocks, delegate.producedBlocks);
};
const answered = ["voteBalance", "producedBlocks"] as const satisfies Name[];

/** Whether no wallet passes but a delegate's. */
const nobodyElse = ({ voteBalance = {}, producedBlocks = {} }: WalletFilter): boolean => !within(voteBalance, 0n) || !within(producedBlocks, 0);

/** They are few, and their list has all that wallets are filtered and ordered by. */
const ofDelegates = ({ filter, order }: WalletQuery, { all, secondPublicKeys }: DelegateList): WalletAccess => {
  const passes = walletTester(filter);
  const passing = all.filter(
    (delegate) => passes?.({ ...noWallet, ...delegate, secondPublicKey: secondPublicKeys.get(delegate.address) ?? null }) ?? true,
  );
  passing.sort(comparisonOf({ direction: order.direction, value: (delegate) => delegate[order.field], key: ({ address }) => address, ties: "asc" }));
  return { answers: Object.keys(filter) as Name[], ordered: true, refs: addresses(passing) };
};

/** What a wallet has beyond a delegate that no filter asks for. */
const noWallet = { lockedBalance: 0n, nonce: 0n, multiSignature: null, isDelegate: true } as const;

const addresses = (delegates: readonly Delegate[]): Sequence<string> => arraySequence(delegates.map(({ address }) => address));

/** Delegates that a part of a set is to be had without: their addresses in the set's order, and their keys in it. */
interface LeftOut {
  inOrder: readonly string[];
  keys: ReadonlyMap<string, Buffer>;
}

const leavingOut = (delegates: readonly Delegate[], keyOf: (delegate: Delegate) => Buffer): LeftOut => {
  const keys = new Map(delegates.map((delegate) => [delegate.address, keyOf(delegate)]));
  return { inOrder: [...keys].sort(([, a], [, b]) => a.compare(b)).map(([address]) => address), keys };
};

/** A set's part between two keys, less some delegates that are in it. */
const partOf = (
  { reading }: Needs,
  { set, from, to }: { set: number; from?: Buffer | undefined; to?: Buffer | undefined },
  { inOrder, keys }: LeftOut,
): Sequence<string> => {
  const entries = countedSequence(reading, set, from, to);
  const placeOf = (address: string): number => countedSequence(reading, set, from, keys.get(address)).total;
  return withoutItems(mapSequence(entries, ({ value }) => addressIn(value)), inOrder, placeOf);
};

const opposite = { asc: "desc", desc: "asc" } as const;

/** Accesses to all wallets, less the delegates that do not pass. */
const inSets = (query: WalletQuery, needs: Needs): WalletAccess[] => {
  const { filter, order } = query;
  const { delegates } = needs;
  const passes = ofDelegatesOnly(filter);
  const failing = delegates.all.filter((delegate) => !passes(delegate));
  const accesses: WalletAccess[] = [];
  /** The sets by balance run from the highest down. */
  const addByBalance = (answers: Name[], refs: Sequence<string>): void => {
    const ordered = order.field === "balance";
    accesses.push({ answers: [...answers, "balance", ...answered], ordered, refs: ordered ? directed(refs, opposite[order.direction]) : refs });
  };
  const add = (refs: Sequence<string>): void => void accesses.push({ answers: [...answered], ordered: true, refs });

  const { balance = {} } = filter;
  const failingInRange = failing.filter((delegate) => within(balance, delegate.balance));
  if (filter.vote !== undefined) {
    const number = voteNumber(filter.vote, needs);
    if (number === undefined) addByBalance(["vote"], emptySequence);
    else {
      const prefix = numberKey(number);
      const voters = failingInRange.filter(({ vote }) => vote === filter.vote);
      const [from, to] = descendingBounds(balance, prefix);
      addByBalance(["vote"], partOf(needs, { set: sets.votersByBalance, from, to }, leavingOut(voters, (delegate) => Buffer.concat([prefix, balanceDescending(delegate)]))));
    }
  }
  // Those who vote for one delegate are fewer than all, whatever else is asked.
  else {
    const [from, to] = descendingBounds(balance);
    addByBalance([], partOf(needs, { set: sets.walletsByBalance, from, to }, leavingOut(failingInRange, balanceDescending)));
  }
  if (order.field === "address") add(directed(byAddress(needs, leavingOut(failing, addressKey)), order.direction));
  if (order.field === "publicKey") {
    const known = partOf(needs, { set: sets.walletsByPublicKey, from: publicKeyPart.known, to: publicKeyPart.unknown }, leavingOut(failing, publicKeyAscending));
    const unknown = partOf(needs, { set: sets.walletsByPublicKey, from: publicKeyPart.unknown, to: publicKeyPart.end }, leavingOut([], publicKeyAscending));
    add(concatSequences([directed(known, order.direction), unknown]));
  }
  if (order.field === "username" || order.field === "voteBalance") add(delegatesFirst(order.field, query, needs));
  return accesses;
};

const addressKey = ({ address }: Delegate): Buffer => textKey(address);

const byAddress = (needs: Needs, leftOut: LeftOut): Sequence<string> => partOf(needs, { set: sets.walletsByAddress }, leftOut);

const voteNumber = (publicKey: string, { reading, delegates }: Needs): number | undefined => {
  const delegate = delegates.byPublicKey.get(publicKey);
  return delegate === undefined ? undefined : readWallet(reading, delegate.address)?.number;
};

type OfDelegates = "username" | "voteBalance";

/** How an order by what delegates alone have begins, from its high end for `voteBalance`, and what the rest of it is without. */
interface Beginning {
  having: readonly Delegate[];
  others: LeftOut;
}

const beginningOf = (field: OfDelegates, { all }: DelegateList, passes: (delegate: Delegate) => boolean): Beginning => {
  const has = ({ voteBalance }: Delegate): boolean => field === "username" || voteBalance !== 0n;
  const direction = field === "username" ? "asc" : "desc";
  return {
    having: all
      .filter((delegate) => has(delegate) && passes(delegate))
      .sort(comparisonOf({ direction, value: (delegate) => delegate[field], key: ({ address }) => address, ties: "asc" })),
    others: leavingOut(
      all.filter((delegate) => has(delegate) || !passes(delegate)),
      addressKey,
    ),
  };
};

/** The beginnings where every delegate passes: good for as long as the list of a tip is. */
const beginnings: Record<OfDelegates, WeakMap<DelegateList, Beginning>> = { username: new WeakMap(), voteBalance: new WeakMap() };

const wholeBeginning = (field: OfDelegates, delegates: DelegateList): Beginning => {
  const beginning = beginnings[field].get(delegates) ?? beginningOf(field, delegates, () => true);
  beginnings[field].set(delegates, beginning);
  return beginning;
};

/**
 * Orders by what delegates alone have: those that have it, sorted here, and all other wallets by address. Other wallets are equal
 * in that order: without a username they come last both ways, with a vote balance of 0 they are the low end.
 */
const delegatesFirst = (field: OfDelegates, { filter, order: { direction } }: WalletQuery, needs: Needs): Sequence<string> => {
  const { delegates } = needs;
  const all = filter.voteBalance === undefined && filter.producedBlocks === undefined;
  const beginning = all ? wholeBeginning(field, delegates) : beginningOf(field, delegates, ofDelegatesOnly(filter));
  const having = addresses(beginning.having);
  const others = byAddress(needs, beginning.others);
  if (field === "username") return concatSequences([directed(having, direction), others]);
  const descending = concatSequences([having, others]);
  return direction === "desc" ? descending : reverseSequence(descending);
};
