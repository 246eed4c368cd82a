import type { Block, Transaction } from "../../../types/chain.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { isVote } from "../../chain/blocks/kinds.js";
import { PorticoError } from "../../errors.js";
import { appendToList } from "../records/posting-list.js";
import { type FeeRecord, feeCodec, type KindRecord, type StateRecord, type TimesApart, type WalletRecord } from "../layout/codec.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";
import { blockCodec, transactionCodec } from "../layout/block-codec.js";
import { amountKey, feeBucketSeconds, feeKey, lists, numberKey, sets, textDigest, textKey } from "../layout/keys.js";
import { transactionNumber } from "../records/records.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { Writing } from "./writing.js";

/** What a block adds to the chain itself: its transactions, its fees, and the block. */

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
    if (transaction.timestamp !== state.tip.timestamp) state.timesApart = widened(state.timesApart, state.tip.timestamp - transaction.timestamp, number);
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
