import type { Delegate, Tip } from "../../../../types/chain.js";
import { approvalOf, productivityOf } from "../../../chain/amount.js";
import { type DelegateRecord, delegateCodec, type StateRecord } from "../../layout/codec.js";
import { keysIn } from "../../layout/write-log.js";
import type { ReadSession } from "../../lmdb/read-session.js";
import { heightOf, rankingKey, readDelegate, readRanking, readWallet } from "../../records/records.js";
import type { Sliced } from "../../../async/time-slicing.js";
import { readUndo } from "../../write/undo.js";

/** Every delegate at one tip. There are some thousands at the most, and every list of them needs them all. */
export interface DelegateList {
  readonly tip: Tip;
  /** In no order. */
  readonly all: readonly Delegate[];
  /** By address; those that have one. */
  readonly secondPublicKeys: ReadonlyMap<string, string>;
  /** Numbers of their wallets, by address. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly byPublicKey: ReadonlyMap<string, Delegate>;
  readonly byAddress: ReadonlyMap<string, Delegate>;
  readonly byUsername: ReadonlyMap<string, Delegate>;
  /** By public key; those that the last finished round ranked. */
  readonly ranks: ReadonlyMap<string, number>;
  /** Of all of them. */
  readonly producedBlocks: number;
}

/** Reads the delegates at a tip; given the list at a tip not long before, only what has changed since. */
export function* readDelegates(reading: ReadSession, state: StateRecord, before?: DelegateList): Sliced<DelegateList> {
  const changes = before === undefined ? undefined : yield* changesSince(before, reading, state);
  const read: Read =
    before === undefined || changes === undefined
      ? { delegates: new Map(), secondPublicKeys: new Map(), numbers: new Map() }
      : { delegates: new Map(before.byPublicKey), secondPublicKeys: new Map(before.secondPublicKeys), numbers: new Map(before.numbers) };
  for (const record of changes?.records ?? allRecords(reading)) {
    readInto(read, record, reading);
    yield;
  }
  return yield* listOf(read, before === undefined || changes?.ranking !== false ? readRanks(reading) : before.ranks, state);
}

const allRecords = (reading: ReadSession): DelegateRecord[] =>
  [...reading.range("delegates", {})].map(({ value }) => delegateCodec.unpack(value as unknown[]));

interface Changes {
  /** Of every delegate whose record or wallet has changed, and perhaps of some others. */
  records: readonly DelegateRecord[];
  ranking: boolean;
}

/** Beyond so many blocks, reading all delegates is as fast. */
const mostBlocks = 16;

/** What the blocks after a tip have changed; undefined if it is too far back or no longer in the chain, or if an undo record is missing. */
function* changesSince({ tip, byAddress }: DelegateList, reading: ReadSession, state: StateRecord): Sliced<Changes | undefined> {
  if (state.tip.height - tip.height > mostBlocks || heightOf(reading, tip.id) !== tip.height) return undefined;
  const records = new Map<string, DelegateRecord>();
  const add = (record: DelegateRecord | undefined): void => void (record !== undefined && records.set(record.publicKey, record));
  let ranking = false;
  for (let height = tip.height + 1; height <= state.tip.height; height++) {
    const undo = yield* readUndo(reading, height);
    if (undo === undefined) return undefined;
    yield;
    const written = yield* keysIn(undo, ["delegates", "wallets", "meta"]);
    ranking ||= written.meta.some((key) => key.equals(rankingKey));
    yield;
    for (const key of written.delegates) {
      add(delegateCodec.unpack(reading.get("delegates", key) as unknown[]));
      yield;
    }
    for (const key of written.wallets) {
      const delegate = byAddress.get(key.toString("utf8"));
      if (delegate !== undefined) add(readDelegate(reading, delegate.publicKey));
      yield;
    }
  }
  return { records: [...records.values()], ranking };
}

interface Read {
  /** By public key. `listOf` fills in their ranks and approvals. */
  delegates: Map<string, Delegate>;
  secondPublicKeys: Map<string, string>;
  numbers: Map<string, number>;
}

const readInto = ({ delegates, secondPublicKeys, numbers }: Read, record: DelegateRecord, reading: ReadSession): void => {
  const { address, publicKey, producedBlocks, missedBlocks, forgedFees, forgedRewards } = record;
  const wallet = readWallet(reading, address);
  delegates.delete(publicKey);
  secondPublicKeys.delete(address);
  numbers.delete(address);
  if (wallet === undefined || wallet.username === null) return;
  numbers.set(address, wallet.number);
  if (wallet.secondPublicKey !== null) secondPublicKeys.set(address, wallet.secondPublicKey);
  delegates.set(publicKey, {
    ...record,
    username: wallet.username,
    rank: null,
    approval: 0,
    productivity: productivityOf(producedBlocks, missedBlocks),
    forgedTotal: forgedFees + forgedRewards,
    resigned: wallet.resigned,
    vote: wallet.vote,
    balance: wallet.balance,
  });
};

const readRanks = (reading: ReadSession): ReadonlyMap<string, number> =>
  new Map(readRanking(reading).map(({ publicKey }, i) => [publicKey, i + 1]));

function* listOf({ delegates, secondPublicKeys, numbers }: Read, ranks: ReadonlyMap<string, number>, { tip, supply }: StateRecord): Sliced<DelegateList> {
  const all: Delegate[] = [];
  for (const delegate of delegates.values()) {
    const rank = ranks.get(delegate.publicKey) ?? null;
    const approval = approvalOf(delegate.voteBalance, supply);
    all.push(delegate.rank === rank && delegate.approval === approval ? delegate : { ...delegate, rank, approval });
    yield;
  }
  return yield* delegateListOf({ tip, all, secondPublicKeys, numbers, ranks });
}

/** The list of all delegates, with what makes it quick to ask. */
export function* delegateListOf({ tip, all, secondPublicKeys, numbers, ranks }: Pick<DelegateList, "tip" | "all" | "secondPublicKeys" | "numbers" | "ranks">): Sliced<DelegateList> {
  const by = (name: "publicKey" | "address" | "username") => new Map(all.map((delegate) => [delegate[name], delegate]));
  yield;
  const byPublicKey = by("publicKey");
  yield;
  const byAddress = by("address");
  yield;
  const byUsername = by("username");
  const producedBlocks = all.reduce((sum, delegate) => sum + delegate.producedBlocks, 0);
  return { tip, all, secondPublicKeys, numbers, byPublicKey, byAddress, byUsername, ranks, producedBlocks };
}

export const findDelegate = (delegates: DelegateList, identifier: string): Delegate | undefined =>
  delegates.byUsername.get(identifier) ?? delegates.byAddress.get(identifier) ?? delegates.byPublicKey.get(identifier);

/** Derives something from a list when it is first asked for, and keeps it for as long as the list lives. */
export const keptWith = <T>(make: (delegates: DelegateList) => T): ((delegates: DelegateList) => T) => {
  const kept = new WeakMap<DelegateList, { made: T }>();
  return (delegates) => {
    const found = kept.get(delegates) ?? { made: make(delegates) };
    kept.set(delegates, found);
    return found.made;
  };
};
