import type { Wallet } from "../../types/chain.js";
import type { Page, Range, WalletFilter, WalletOrder, WalletQuery } from "../../types/chain-adapter.js";
import type { WalletRecord } from "./codec.js";
import { rankOf } from "./counted-set.js";
import type { DelegateList } from "./delegate-list.js";
import { amountKey, canBeKey, idKey, numberKey, sets, textKey } from "./keys.js";
import { walletTester, within } from "./match.js";
import { type Access, answerList, compare, sortRows } from "./question.js";
import type { Reading } from "./reading.js";
import { existing, readWallet } from "./records.js";
import {
  arraySequence,
  concatSequences,
  countedSequence,
  directed,
  emptySequence,
  mapSequence,
  reverseSequence,
  type Sequence,
  withoutPlaces,
} from "./sequence.js";
import { publicKeyPart, secondPublicKeyEntry } from "./wallet-index.js";

type WalletAccess = Access<string, WalletFilter>;

/** A wallet as the outside knows it: with what it is as a delegate. */
export const presentWallet = (record: WalletRecord, delegates: DelegateList): Wallet => {
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

export const askWallets = (query: WalletQuery, reading: Reading, delegates: DelegateList): Page<Wallet> => {
  const { order } = query;
  return answerList<string, Wallet, WalletFilter, WalletOrder>({
    query,
    accesses: [...lookups(query, reading), ...inOwnOrder(query, reading, delegates)],
    load: (address) => presentWallet(existing(readWallet(reading, address), `wallet ${address}`), delegates),
    test: walletTester,
    sort: (wallets) => sortRows(wallets, order.direction, (wallet) => wallet[order.field], ({ address }) => address, "asc"),
  });
};

const addressIn = (value: unknown): string => (value as Buffer).toString("utf8");

/** Accesses that name a few wallets outright. */
const lookups = ({ filter }: WalletQuery, reading: Reading): WalletAccess[] => {
  const accesses: WalletAccess[] = [];
  const add = (name: keyof WalletFilter, addresses: string[]): void => {
    const known = addresses.filter((address) => readWallet(reading, address) !== undefined);
    accesses.push({ answers: [name], ordered: known.length < 2, refs: arraySequence(known) });
  };
  const found = (value: unknown): string[] => (value === undefined ? [] : [addressIn(value)]);

  if (filter.address !== undefined) add("address", [filter.address]);
  if (filter.addresses !== undefined) add("addresses", [...new Set(filter.addresses)]);
  if (filter.publicKey !== undefined) add("publicKey", found(reading.get("publicKeys", idKey(filter.publicKey))));
  if (filter.username !== undefined) add("username", found(reading.get("usernames", textKey(filter.username))));
  if (filter.secondPublicKey !== undefined) {
    const start = secondPublicKeyEntry(filter.secondPublicKey, "");
    const range = canBeKey(start) ? reading.range("secondPublicKeys", { start, end: Buffer.concat([start, Buffer.from([0xff])]) }) : [];
    // The addresses' own bytes follow the key's, so a text that is only the beginning of a key finds more than is asked for.
    const addresses = [...range].map(({ value }) => addressIn(value));
    add("secondPublicKey", addresses.filter((address) => readWallet(reading, address)?.secondPublicKey === filter.secondPublicKey));
  }
  return accesses;
};

/** Bounds of a balance range in a set that descends by balance, behind a prefix. */
const balanceBounds = ({ from, to }: Range<bigint>, prefix: Buffer, end: Buffer | undefined): [Buffer | undefined, Buffer | undefined] => [
  to === undefined ? prefix : Buffer.concat([prefix, amountKey(-to)]),
  from === undefined ? end : Buffer.concat([prefix, amountKey(-from + 1n)]),
];

const addressesOf = (reading: Reading, set: number, from?: Buffer, to?: Buffer): Sequence<string> =>
  mapSequence(countedSequence(reading, set, from, to), ({ value }) => addressIn(value));

const opposite = { asc: "desc", desc: "asc" } as const;

const inOwnOrder = (query: WalletQuery, reading: Reading, delegates: DelegateList): WalletAccess[] => {
  const { filter, order } = query;
  const byBalance = order.field === "balance";
  /** The sets run from the highest balance down. */
  const descending = (refs: Sequence<string>): Sequence<string> => (byBalance ? directed(refs, opposite[order.direction]) : refs);
  const accesses: WalletAccess[] = [
    {
      answers: ["balance"],
      ordered: byBalance,
      refs: descending(addressesOf(reading, sets.walletsByBalance, ...balanceBounds(filter.balance ?? {}, Buffer.alloc(0), undefined))),
    },
  ];
  if (filter.vote !== undefined) {
    const number = voteNumber(filter.vote, reading, delegates);
    const refs =
      number === undefined
        ? emptySequence
        : addressesOf(reading, sets.votersByBalance, ...balanceBounds(filter.balance ?? {}, numberKey(number), numberKey(number + 1)));
    accesses.push({ answers: ["vote", "balance"], ordered: byBalance, refs: descending(refs) });
  }
  if (onlyDelegates(filter)) {
    const addresses = delegates.all.map(({ address }) => address);
    accesses.push({ answers: [], ordered: false, refs: arraySequence(addresses) });
  }
  if (order.field === "address") {
    accesses.push({ answers: [], ordered: true, refs: directed(addressesOf(reading, sets.walletsByAddress), order.direction) });
  }
  if (order.field === "publicKey") {
    const known = addressesOf(reading, sets.walletsByPublicKey, publicKeyPart.known, publicKeyPart.unknown);
    const unknown = addressesOf(reading, sets.walletsByPublicKey, publicKeyPart.unknown, publicKeyPart.end);
    accesses.push({ answers: [], ordered: true, refs: concatSequences([directed(known, order.direction), unknown]) });
  }
  if (order.field === "username" || order.field === "voteBalance") accesses.push(delegatesFirst(query, reading, delegates));
  return accesses;
};

const voteNumber = (publicKey: string, reading: Reading, delegates: DelegateList): number | undefined => {
  const delegate = delegates.byPublicKey.get(publicKey);
  return delegate === undefined ? undefined : readWallet(reading, delegate.address)?.number;
};

/** Filters that no wallet passes but delegates. */
const onlyDelegates = ({ voteBalance, producedBlocks }: WalletFilter): boolean =>
  (voteBalance !== undefined && !within(voteBalance, 0n)) || (producedBlocks !== undefined && !within(producedBlocks, 0));

/**
 * Orders by what delegates alone have: those that have it, sorted here (they are few), and all other wallets by address.
 * Other wallets are equal in that order: without a username they come last both ways, with a vote balance of 0 they are
 * the low end.
 */
const delegatesFirst = ({ order }: WalletQuery, reading: Reading, delegates: DelegateList): WalletAccess => {
  const byUsername = order.field === "username";
  const having = delegates.all.filter(({ voteBalance }) => byUsername || voteBalance !== 0n);
  const sorted = byUsername
    ? having.sort((a, b) => compare(a.username, b.username))
    : having.sort((a, b) => -compare(a.voteBalance, b.voteBalance) || compare(a.address, b.address));
  const first = arraySequence(sorted.map(({ address }) => address));
  const places = having.map(({ address }) => rankOf(reading, sets.walletsByAddress, textKey(address))).sort((a, b) => a - b);
  const others = withoutPlaces(addressesOf(reading, sets.walletsByAddress), places);
  if (byUsername) return { answers: [], ordered: true, refs: concatSequences([directed(first, order.direction), others]) };
  const descending = concatSequences([first, others]);
  return { answers: [], ordered: true, refs: order.direction === "desc" ? descending : reverseSequence(descending) };
};
