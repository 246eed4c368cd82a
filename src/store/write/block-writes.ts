import type { Block, Tip, Transaction } from "../../../types/chain.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { BlockChanges } from "../../chain/blocks/apply.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { isVote } from "../../chain/blocks/transaction-types.js";
import { type Digest, delegatePart, lockPart, walletPart, ranksPart } from "../../chain/digest.js";
import { missedTurns, rankDelegates, roundOf } from "../../chain/rounds.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import {
  blockCodec,
  transactionCodec,
  type FeeRecord,
  feeCodec,
  type KindRecord,
  type StateRecord,
  type TimesApart,
  type WalletRecord,
  type DelegateRecord,
  delegateCodec,
  lockCodec,
  walletCodec,
  type RankedDelegate,
  rankingCodec,
} from "../layout/codec.js";
import { amountKey, feeBucketSeconds, feeKey, lists, numberKey, sets, textDigest, textKey, idKey } from "../layout/keys.js";
import type { WriterReads } from "../lmdb/read-session.js";
import { listKey } from "../layout/posting-pieces.js";
import { existing, rankingKey, readBlock, readDelegate, readRanking, readRound, readWallet, transactionNumber } from "../records/records.js";
import type { Journal } from "./undo.js";
import { type HistoryRows, numberOfDelegate } from "./history-rows.js";
import { indexLock, indexWallet, type SetWriterOf } from "./account-indexes.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";

/** Appends to a list of `listSequence`. */
export const appendToList = (journal: Pick<Journal, "insert">, list: number, owner: number, length: number, number: number): void =>
  journal.insert("lists", listKey(list, owner, length), numberKey(number));

/** Numbers of delegates' wallets, as `numberOfDelegate` finds them: a block asks for those of its voters' delegates again and again. */
interface DelegateNumbers {
  of(publicKey: string, written?: ReadonlyMap<string, { number: number }>): number | undefined;
  /** To be called when writes are undone. */
  forget(): void;
}

export const createDelegateNumbers = (reading: WriterReads): DelegateNumbers => {
  const numbers = new Map<string, number>();
  return {
    of: (publicKey, written) => {
      const number = numbers.get(publicKey) ?? numberOfDelegate(publicKey, reading, written);
      if (number !== undefined) numbers.set(publicKey, number);
      return number;
    },
    forget: () => numbers.clear(),
  };
};

/** What the writing of one block uses. */
export interface Writing {
  journal: Journal;
  reading: WriterReads;
  rules: ChainRules;
  rankedSets: RankedSetWriter;
  walletSetOf: SetWriterOf;
  numbers: DelegateNumbers;
  digest: Digest;
  /** Undefined where no history is kept. */
  history: HistoryRows | undefined;
  /** The block before. */
  before: Tip | undefined;
}

// What a block adds to the chain itself: its transactions, its fees, and the block.

const kindOf = ({ typeGroup, type, version }: Transaction, { kinds }: StateRecord): { place: number; record: KindRecord } => {
  const found = kinds.findIndex((kind) => kind.typeGroup === typeGroup && kind.type === type && kind.version === version);
  const place = found === -1 ? kinds.length : found;
  const record = kinds[place] ?? { typeGroup, type, version, count: 0 };
  kinds[place] = record;
  return { place, record };
};

/** Written twice, an id would be in the counted sets once, but count as two. */
const requireNew = ({ id, blockHeight }: Transaction, { reading }: Writing): void => {
  if (transactionNumber(reading, id) !== undefined) {
    throw new PorticoError("BLOCK_INVALID", `block ${blockHeight} contains transaction ${id}, which the chain already has`);
  }
};

export const writeTransactions = function* (
  transactions: readonly Transaction[],
  wallets: Map<string, WalletRecord>,
  state: StateRecord,
  writing: Writing,
): Sliced<void> {
  const { journal, rules, rankedSets } = writing;
  const append = (list: "sent" | "received" | "owned" | "voted", address: string, number: number): void => {
    const wallet = wallets.get(address);
    if (wallet !== undefined) appendToList(journal, lists[list], wallet.number, wallet[list]++, number);
  };
  for (const transaction of transactions) {
    const number = state.transactions++;
    const place = numberKey(number);
    requireNew(transaction, writing);
    journal.insert("transactions", place, transactionCodec.pack(transaction));
    const recipients = rules.recipientsOf(transaction);
    append("sent", transaction.senderId, number);
    for (const address of recipients) {
      append("received", address, number);
      // What moves nothing may name an address that has no wallet, and makes none.
      if (!wallets.has(address)) rankedSets.insert(sets.transactionsByStranger, Buffer.concat([textDigest(address), place]));
    }
    for (const address of new Set([transaction.senderId, ...recipients])) append("owned", address, number);
    if (isVote(transaction)) append("voted", transaction.senderId, number);
    const kind = kindOf(transaction, state);
    appendToList(journal, lists.kind, kind.place, kind.record.count++, number);
    indexTransaction(transaction, place, rankedSets);
    if (transaction.timestamp !== state.tip.timestamp)
      state.timesApart = widened(state.timesApart, state.tip.timestamp - transaction.timestamp, number);
    yield;
  }
};

const widened = ({ lag, lead }: TimesApart, behind: number, number: number): TimesApart => ({
  lag: Math.max(lag, behind),
  lead: Math.max(lead, -behind),
  until: number + 1,
});

const indexTransaction = ({ id, timestamp, amount, fee, nonce, vendorField }: Transaction, place: Buffer, rankedSets: RankedSetWriter): void => {
  const add = (set: number, value: Buffer): void => rankedSets.insert(set, Buffer.concat([value, place]));
  rankedSets.insert(sets.transactionsById, textKey(id), place);
  add(sets.transactionsByTimestamp, numberKey(timestamp));
  add(sets.transactionsByAmount, amountKey(amount));
  add(sets.transactionsByFee, amountKey(fee));
  if (nonce !== undefined) add(sets.transactionsByNonce, amountKey(nonce));
  if (vendorField !== undefined) add(sets.transactionsByVendorField, textDigest(vendorField));
};

/** Genesis has no fees that anybody chose. */
export const writeFees = function* ({ block, transactions }: FullBlock, { journal, reading }: Writing): Sliced<void> {
  if (block.height === 1) return;
  const bucket = Math.floor(block.timestamp / feeBucketSeconds);
  const records = new Map<string, { key: Buffer; record: FeeRecord }>();
  for (const { typeGroup, type, fee } of transactions) {
    const name = `${typeGroup}/${type}`;
    let entry = records.get(name);
    if (entry === undefined) {
      const key = feeKey(bucket, typeGroup, type);
      const found = reading.get("fees", key);
      entry = { key, record: found === undefined ? { count: 0, sum: 0n, min: fee, max: fee } : feeCodec.unpack(found as unknown[]) };
      records.set(name, entry);
    }
    const { record } = entry;
    record.count++;
    record.sum += fee;
    if (fee < record.min) record.min = fee;
    if (fee > record.max) record.max = fee;
    yield;
  }
  for (const { key, record } of records.values()) journal.put("fees", key, feeCodec.pack(record));
};

export const writeBlockRecord = (block: Block, firstTransaction: number, { journal, rankedSets }: Writing): void => {
  const place = numberKey(block.height);
  journal.insert("blocks", place, blockCodec.pack(block));
  journal.insert("blockTransactions", place, Buffer.concat([numberKey(firstTransaction), numberKey(block.numberOfTransactions)]));
  const add = (set: number, value: Buffer): void => rankedSets.insert(set, Buffer.concat([value, place]));
  rankedSets.insert(sets.blocksById, textKey(block.id), place);
  add(sets.blocksByVersion, numberKey(block.version));
  add(sets.blocksByNumberOfTransactions, numberKey(block.numberOfTransactions));
  add(sets.blocksByTotalAmount, amountKey(block.totalAmount));
  add(sets.blocksByTotalFee, amountKey(block.totalFee));
  add(sets.blocksByReward, amountKey(block.reward));
  add(sets.blocksByPayloadLength, numberKey(block.payloadLength));
  add(sets.blocksByPayloadHash, textDigest(block.payloadHash));
  add(sets.blocksBySignature, textDigest(block.blockSignature));
};

// What a block changes in accounts: delegates, wallets and locks.

const newDelegate = ({ address, publicKey }: { address: string; publicKey: string }): DelegateRecord => ({
  address,
  publicKey,
  voteBalance: 0n,
  voters: 0,
  producedBlocks: 0,
  missedBlocks: 0,
  missedRounds: 0,
  forgedFees: 0n,
  forgedRewards: 0n,
  lastBlock: null,
});

/** The turns that passed without a block before a block. */
const turnsBefore = (block: Block, { reading, rules: { milestones }, before }: Writing): Map<string, number> =>
  missedTurns(block, {
    milestones,
    round: (round) => existing(readRound(reading, round), `round ${round}`),
    timeOf: (height) => (height === before?.height ? before : existing(readBlock(reading, height), `block ${height}`)).timestamp,
  });

/** Writes the delegates that registered, whose votes changed, who forged the block, or who missed their turns before it. */
export const writeDelegates = function* (
  block: Block,
  changes: BlockChanges,
  wallets: Map<string, WalletRecord>,
  writing: Writing,
): Sliced<void> {
  const { journal, reading, numbers, digest, history } = writing;
  const delegates = new Map<string, DelegateRecord>();
  const read = (publicKey: string): DelegateRecord | undefined => {
    const found = readDelegate(reading, publicKey);
    const number = found === undefined || history === undefined ? undefined : numbers.of(publicKey, wallets);
    if (found !== undefined && number !== undefined) history?.delegate(number, found);
    return found;
  };
  const delegate = (publicKey: string): DelegateRecord | undefined => {
    const known = delegates.get(publicKey);
    if (known !== undefined) return known;
    const found = read(publicKey);
    if (found === undefined) return undefined;
    digest.takeOff(delegatePart(found));
    delegates.set(publicKey, found);
    return found;
  };
  for (const [address, { before, after }] of changes.wallets) {
    if (after.username === null || (before !== undefined && before.username !== null) || after.publicKey === null) continue;
    delegates.set(after.publicKey, newDelegate({ address, publicKey: after.publicKey }));
  }
  for (const publicKey of new Set([...changes.votes.keys(), ...changes.voters.keys()])) {
    const found = delegate(publicKey);
    if (found === undefined) {
      throw new PorticoError("BLOCK_INVALID", `block ${block.height} (${block.id}) contains a vote for ${publicKey}, which is not a delegate`);
    }
    found.voteBalance += changes.votes.get(publicKey) ?? 0n;
    found.voters += changes.voters.get(publicKey) ?? 0;
    yield;
  }
  for (const [publicKey, turns] of turnsBefore(block, writing)) {
    existing(delegate(publicKey), `delegate ${publicKey}`).missedBlocks += turns;
    yield;
  }
  const generator = delegate(block.generatorPublicKey);
  if (generator !== undefined) {
    generator.producedBlocks++;
    generator.forgedFees += block.totalFee;
    generator.forgedRewards += block.reward;
    generator.lastBlock = { id: block.id, height: block.height, timestamp: block.timestamp };
    const wallet = wallets.get(generator.address);
    if (wallet !== undefined) appendToList(journal, lists.forged, wallet.number, generator.producedBlocks - 1, block.height);
  }
  for (const record of delegates.values()) {
    journal.put("delegates", idKey(record.publicKey), delegateCodec.pack(record));
    digest.add(delegatePart(record));
    yield;
  }
};

export const writeWallets = function* (
  changes: BlockChanges,
  wallets: Map<string, WalletRecord>,
  { journal, walletSetOf, numbers, digest, history }: Writing,
): Sliced<void> {
  const delegateNumber = (publicKey: string): number | undefined => numbers.of(publicKey, wallets);
  for (const [address, { before }] of changes.wallets) {
    const after = wallets.get(address);
    if (after === undefined) continue;
    indexWallet(journal, walletSetOf, before as WalletRecord | undefined, after, delegateNumber);
    history?.wallet(before as WalletRecord | undefined, after, delegateNumber);
    journal.put("wallets", textKey(address), walletCodec.pack(after));
    if (before !== undefined) digest.takeOff(walletPart(before));
    digest.add(walletPart(after));
    yield;
  }
};

export const writeLocks = function* ({ locks }: BlockChanges, { journal, rankedSets, digest }: Writing): Sliced<void> {
  for (const [id, { before, after }] of locks) {
    if (before !== undefined) digest.takeOff(lockPart(before));
    if (after !== undefined) digest.add(lockPart(after));
    if (before !== after) indexLock(rankedSets, before, after);
    if (after !== undefined) journal.put("locks", idKey(id), lockCodec.pack(after));
    else if (before !== undefined) journal.remove("locks", idKey(id));
    yield;
  }
};

/** What the last block of a round writes beyond what every block does. Genesis writes a ranking too, but ends no round. */
export const endRound = function* (height: number, writing: Writing): Sliced<void> {
  if (height > 1) yield* countMissed(height, writing);
  yield* writeRanking(height, writing);
};

/** The round counts as missed for those of its active delegates who forged none of its blocks. */
const countMissed = function* (height: number, { journal, reading, rules, numbers, digest, history }: Writing): Sliced<void> {
  const { round, firstHeight } = roundOf(height, rules.milestones);
  const generators = new Set<string>();
  for (let at = firstHeight; at <= height; at++) {
    generators.add(existing(readBlock(reading, at), `block ${at}`).generatorPublicKey);
    yield;
  }
  for (const { publicKey } of existing(readRound(reading, round), `round ${round}`)) {
    if (generators.has(publicKey)) continue;
    const record = existing(readDelegate(reading, publicKey), `delegate ${publicKey}`);
    const number = history === undefined ? undefined : numbers.of(publicKey);
    if (number !== undefined) history?.delegate(number, record);
    const after = { ...record, missedRounds: record.missedRounds + 1 };
    journal.put("delegates", idKey(publicKey), delegateCodec.pack(after));
    digest.takeOff(delegatePart(record));
    digest.add(delegatePart(after));
  }
};

/** The delegates as the next ranking weighs them. */
const candidates = function* (reading: WriterReads): Sliced<(RankedDelegate & { resigned: boolean })[]> {
  const found: (RankedDelegate & { resigned: boolean })[] = [];
  for (const { value } of reading.range("delegates", {})) {
    const { address, publicKey, voteBalance } = delegateCodec.unpack(value as unknown[]);
    const { username, resigned } = existing(readWallet(reading, address), `wallet ${address}`);
    if (username !== null) found.push({ publicKey, username, voteBalance, resigned });
    yield;
  }
  return found;
};

/** The ranking, and who is active in the next round. */
const writeRanking = function* (height: number, { journal, reading, rules, numbers, digest, history }: Writing): Sliced<void> {
  const ranking = rankDelegates(yield* candidates(reading));
  yield;
  const keysOf = (ranked: readonly { publicKey: string }[]): string[] => ranked.map(({ publicKey }) => publicKey);
  const before = readRanking(reading);
  digest.takeOff(ranksPart(keysOf(before)));
  digest.add(ranksPart(keysOf(ranking)));
  const next = roundOf(height + 1, rules.milestones);
  if (height > 1) history?.ranks(before, ranking, numbers.of);
  journal.put("meta", rankingKey, rankingCodec.pack(ranking));
  journal.put("rounds", numberKey(next.round), rankingCodec.pack(ranking.slice(0, next.activeDelegates)));
};
