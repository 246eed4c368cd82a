import type { Block, Transaction } from "../../types/chain.js";
import { applyBlock, type BlockChanges } from "../chain/apply.js";
import type { FullBlock } from "../chain/block.js";
import { endsRound, rankDelegates, roundOf } from "../chain/rounds.js";
import type { ChainRules } from "../chain/rules.js";
import { PorticoError } from "../errors.js";
import { appendToList } from "./appended-list.js";
import {
  blockCodec,
  type DelegateRecord,
  delegateCodec,
  type FeeRecord,
  feeCodec,
  type KindRecord,
  lockCodec,
  rankingCodec,
  type StateRecord,
  stateCodec,
  transactionCodec,
  type WalletRecord,
  walletCodec,
} from "./codec.js";
import { type CountedSetWriter, createCountedSetWriter, createSeparators } from "./counted-set-writer.js";
import type { Environment } from "./environment.js";
import { createJournal, type Journal, rollBack, type Undo } from "./journal.js";
import { amountKey, feeBucketSeconds, feeKey, idKey, lists, numberKey, sets, textKey } from "./keys.js";
import { createReading, type Reading } from "./reading.js";
import {
  existing,
  rankingKey,
  readBlock,
  readDelegate,
  readLock,
  readState,
  readTransaction,
  readWallet,
  stateKey,
  transactionsOfBlock,
} from "./records.js";
import { indexWallet } from "./wallet-index.js";

/** Writes blocks into the store and takes them out again. Both inside the caller's LMDB write transaction. */
export interface Writer {
  /** @throws PorticoError BLOCK_DOES_NOT_CHAIN, BLOCK_INVALID; the caller's transaction must then be aborted. */
  apply(full: FullBlock): void;
  /** Takes the tip out and returns it. @throws PorticoError STORE_UNDO_EXHAUSTED */
  revert(): FullBlock | undefined;
  /** To be called when the caller's transaction was aborted. */
  aborted(): void;
}

export const createWriter = (environment: Environment, rules: ChainRules, options: { undoBlocks: number }): Writer => {
  const reading = createReading(environment);
  const separators = createSeparators(reading);
  return {
    apply: (full) => {
      const journal = createJournal(environment);
      const countedSets = createCountedSetWriter(journal, reading, separators);
      writeBlock(full, { journal, reading, rules, countedSets });
      countedSets.flush();
      const { height } = full.block;
      environment.db.undo.putSync(numberKey(height), journal.undo);
      if (height > options.undoBlocks) environment.db.undo.removeSync(numberKey(height - options.undoBlocks));
    },
    revert: () => {
      const state = readState(reading);
      if (state === undefined) return undefined;
      const key = numberKey(state.tip.height);
      const undo = reading.get("undo", key) as Undo | undefined;
      if (undo === undefined) {
        throw new PorticoError(
          "STORE_UNDO_EXHAUSTED",
          `block ${state.tip.height} cannot be reverted: no more than ${options.undoBlocks} blocks can. Move the store away and it is built anew`,
        );
      }
      const full = readFullBlock(reading, state.tip.height);
      separators.forget();
      rollBack(environment, undo);
      environment.db.undo.removeSync(key);
      return full;
    },
    aborted: () => separators.forget(),
  };
};

const readFullBlock = (reading: Reading, height: number): FullBlock => {
  const { first, count } = transactionsOfBlock(reading, height);
  return {
    block: existing(readBlock(reading, height), `block ${height}`),
    transactions: Array.from({ length: count }, (_, i) => existing(readTransaction(reading, first + i), `transaction ${first + i}`)),
  };
};

interface Writing {
  journal: Journal;
  reading: Reading;
  rules: ChainRules;
  countedSets: CountedSetWriter;
}

const emptyState = (): Omit<StateRecord, "tip"> => ({ supply: 0n, transactions: 0, wallets: 0, kinds: [] });

const writeBlock = (full: FullBlock, writing: Writing): void => {
  const { journal, reading, rules } = writing;
  const { block, transactions } = full;
  const before = readState(reading);
  requireChained(block, before);
  const state: StateRecord = {
    ...(before ?? emptyState()),
    tip: { id: block.id, height: block.height, timestamp: block.timestamp },
    kinds: [...(before?.kinds ?? [])],
  };
  state.supply += before === undefined ? block.totalAmount : block.reward;

  const changes = applyBlock(
    full,
    {
      wallet: (address) => readWallet(reading, address),
      lock: (id) => readLock(reading, id),
    },
    rules,
  );
  const wallets = walletsAfter(changes, state);
  writeTransactions(transactions, wallets, state, writing);
  writeDelegates(block, changes, wallets, writing);
  writeWallets(changes, wallets, writing);
  writeLocks(changes, writing);
  writeFees(full, writing);
  writeBlockRecord(block, state.transactions - transactions.length, writing);
  journal.put("meta", stateKey, stateCodec.pack(state));
  if (endsRound(block.height, rules.milestones)) writeRanking(block.height, writing);
};

const requireChained = (block: Block, before: StateRecord | undefined): void => {
  if (before === undefined) {
    if (block.height !== 1) throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `block ${block.height} cannot be the first: the chain begins at height 1`);
    return;
  }
  const { tip } = before;
  if (block.height !== tip.height + 1 || block.previousBlock !== tip.id) {
    throw new PorticoError(
      "BLOCK_DOES_NOT_CHAIN",
      `block ${block.height} (${block.id}) does not follow the tip at height ${tip.height} (${tip.id}): its previous block is ${String(block.previousBlock)}`,
    );
  }
};

/** The records as they will stand; new wallets are numbered in the order in which the block first names them. */
const walletsAfter = (changes: BlockChanges, state: StateRecord): Map<string, WalletRecord> => {
  const records = new Map<string, WalletRecord>();
  for (const [address, { before, after }] of changes.wallets) {
    const known = before as WalletRecord | undefined;
    const { number, sent, received, owned, voted } = known ?? { number: state.wallets++, sent: 0, received: 0, owned: 0, voted: 0 };
    records.set(address, { ...after, number, sent, received, owned, voted });
  }
  return records;
};

const isVote = ({ typeGroup, type }: Transaction): boolean => typeGroup === 1 && type === 3;

const kindOf = ({ typeGroup, type, version }: Transaction, { kinds }: StateRecord): { place: number; record: KindRecord } => {
  const found = kinds.findIndex((kind) => kind.typeGroup === typeGroup && kind.type === type && kind.version === version);
  const place = found === -1 ? kinds.length : found;
  const record = kinds[place] ?? { typeGroup, type, version, count: 0 };
  kinds[place] = record;
  return { place, record };
};

const writeTransactions = (
  transactions: readonly Transaction[],
  wallets: Map<string, WalletRecord>,
  state: StateRecord,
  { journal, rules, countedSets }: Writing,
): void => {
  const append = (list: "sent" | "received" | "owned" | "voted", address: string, number: number): void => {
    const wallet = wallets.get(address);
    // A type of a fork may name a recipient that it does not touch: such a wallet does not exist.
    if (wallet !== undefined) appendToList(journal, lists[list], wallet.number, wallet[list]++, number);
  };
  for (const transaction of transactions) {
    const number = state.transactions++;
    const place = numberKey(number);
    journal.insert("transactions", place, transactionCodec.pack(transaction));
    journal.insert("transactionNumbers", idKey(transaction.id), place);
    const recipients = rules.recipientsOf(transaction);
    append("sent", transaction.senderId, number);
    for (const address of recipients) append("received", address, number);
    for (const address of new Set([transaction.senderId, ...recipients])) append("owned", address, number);
    if (isVote(transaction)) append("voted", transaction.senderId, number);
    const kind = kindOf(transaction, state);
    appendToList(journal, lists.kind, kind.place, kind.record.count++, number);
    countedSets.insert(sets.transactionsByTimestamp, Buffer.concat([numberKey(transaction.timestamp), place]));
    countedSets.insert(sets.transactionsByAmount, Buffer.concat([amountKey(transaction.amount), place]));
    countedSets.insert(sets.transactionsByFee, Buffer.concat([amountKey(transaction.fee), place]));
    countedSets.insert(sets.transactionsById, textKey(transaction.id), place);
  }
};

const newDelegate = ({ address, publicKey }: { address: string; publicKey: string }): DelegateRecord => ({
  address,
  publicKey,
  voteBalance: 0n,
  producedBlocks: 0,
  forgedFees: 0n,
  forgedRewards: 0n,
  lastBlock: null,
});

/** Whose record moves: delegates that registered, whose votes moved, or who forged the block. */
const writeDelegates = (block: Block, changes: BlockChanges, wallets: Map<string, WalletRecord>, { journal, reading }: Writing): void => {
  const delegates = new Map<string, DelegateRecord>();
  const delegate = (publicKey: string): DelegateRecord | undefined => {
    const found = delegates.get(publicKey) ?? readDelegate(reading, publicKey);
    if (found !== undefined) delegates.set(publicKey, found);
    return found;
  };
  for (const [address, { before, after }] of changes.wallets) {
    if (after.username === null || (before !== undefined && before.username !== null) || after.publicKey === null) continue;
    delegates.set(after.publicKey, newDelegate({ address, publicKey: after.publicKey }));
  }
  for (const [publicKey, by] of changes.votes) {
    const found = delegate(publicKey);
    if (found === undefined) {
      throw new PorticoError("BLOCK_INVALID", `block ${block.height} (${block.id}) holds a vote for ${publicKey}, which is no delegate`);
    }
    found.voteBalance += by;
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
  for (const record of delegates.values()) journal.put("delegates", idKey(record.publicKey), delegateCodec.pack(record));
};

const writeWallets = (changes: BlockChanges, wallets: Map<string, WalletRecord>, { journal, reading, countedSets }: Writing): void => {
  const numbers = new Map<string, number | undefined>();
  const delegateNumber = (publicKey: string): number | undefined => {
    if (!numbers.has(publicKey)) {
      const address = readDelegate(reading, publicKey)?.address;
      numbers.set(publicKey, address === undefined ? undefined : (wallets.get(address) ?? readWallet(reading, address))?.number);
    }
    return numbers.get(publicKey);
  };
  for (const [address, { before }] of changes.wallets) {
    const after = wallets.get(address);
    if (after === undefined) continue;
    indexWallet(journal, countedSets, before as WalletRecord | undefined, after, delegateNumber);
    journal.put("wallets", textKey(address), walletCodec.pack(after));
  }
};

const writeLocks = ({ locks }: BlockChanges, { journal }: Writing): void => {
  for (const [id, { before, after }] of locks) {
    if (after !== undefined) journal.put("locks", idKey(id), lockCodec.pack(after));
    else if (before !== undefined) journal.remove("locks", idKey(id));
  }
};

const writeFees = ({ block, transactions }: FullBlock, { journal }: Writing): void => {
  const bucket = Math.floor(block.timestamp / feeBucketSeconds);
  const records = new Map<string, { key: Buffer; record: FeeRecord }>();
  for (const { typeGroup, type, fee } of transactions) {
    const name = `${typeGroup}/${type}`;
    let entry = records.get(name);
    if (entry === undefined) {
      const key = feeKey(bucket, typeGroup, type);
      const found = journal.get("fees", key);
      entry = { key, record: found === undefined ? { count: 0, sum: 0n, min: fee, max: fee } : feeCodec.unpack(found as unknown[]) };
      records.set(name, entry);
    }
    const { record } = entry;
    record.count++;
    record.sum += fee;
    if (fee < record.min) record.min = fee;
    if (fee > record.max) record.max = fee;
  }
  for (const { key, record } of records.values()) journal.put("fees", key, feeCodec.pack(record));
};

const writeBlockRecord = (block: Block, firstTransaction: number, { journal, countedSets }: Writing): void => {
  const place = numberKey(block.height);
  journal.insert("blocks", place, blockCodec.pack(block));
  journal.insert("blockHeights", idKey(block.id), place);
  journal.insert("blockTransactions", place, Buffer.concat([numberKey(firstTransaction), numberKey(block.numberOfTransactions)]));
  const number = (value: number): Buffer => Buffer.concat([numberKey(value), place]);
  const amount = (value: bigint): Buffer => Buffer.concat([amountKey(value), place]);
  countedSets.insert(sets.blocksByVersion, number(block.version));
  countedSets.insert(sets.blocksById, textKey(block.id), place);
  countedSets.insert(sets.blocksByNumberOfTransactions, number(block.numberOfTransactions));
  countedSets.insert(sets.blocksByTotalAmount, amount(block.totalAmount));
  countedSets.insert(sets.blocksByTotalFee, amount(block.totalFee));
  countedSets.insert(sets.blocksByReward, amount(block.reward));
  countedSets.insert(sets.blocksByPayloadLength, number(block.payloadLength));
};

/** At the end of a round: who stands where, and who is active in the next. */
const writeRanking = (height: number, { journal, reading, rules }: Writing): void => {
  const candidates = [...reading.range("delegates", {})].flatMap(({ value }) => {
    const { address, publicKey, voteBalance } = delegateCodec.unpack(value as unknown[]);
    const wallet = readWallet(reading, address);
    return wallet === undefined || wallet.username === null ? [] : [{ publicKey, username: wallet.username, voteBalance, resigned: wallet.resigned }];
  });
  const ranking = rankDelegates(candidates);
  const next = roundOf(height + 1, rules.milestones);
  journal.put("meta", rankingKey, rankingCodec.pack(ranking));
  journal.put("rounds", numberKey(next.round), rankingCodec.pack(ranking.slice(0, next.activeDelegates)));
};
