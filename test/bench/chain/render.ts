import type { Block, Transaction } from "../../../types/chain.js";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import * as names from "./names.js";
import { blocktime, reward } from "./network.js";
import type { PlannedBlock, PlannedTransaction } from "./planned.js";

/** Makes whole blocks of planned ones, as Portico reads them from a host. Signatures have the right length, but are made up. */
export type Render = (planned: PlannedBlock) => FullBlock;

interface Kind {
  type: number;
  asset?: Record<string, unknown>;
  /** Wallet number. */
  recipient?: number;
}

type AddressOf = (wallet: number) => string;

const signed = (sign: "+" | "-", wallet: number): string[] => (wallet === -1 ? [] : [`${sign}${names.publicKeyOf(wallet)}`]);

const kindOf = ({ number, sender, deed }: PlannedTransaction, addressOf: AddressOf): Kind => {
  switch (deed.kind) {
    case "transfer":
      return { type: 0, recipient: deed.recipient };
    case "secondSignature":
      return { type: 1, asset: { signature: { publicKey: names.secondPublicKeyOf(sender) } } };
    case "registration":
      return { type: 2, asset: { delegate: { username: names.usernameOf(sender) } } };
    case "vote":
      return { type: 3, asset: { votes: [...signed("-", deed.from), ...signed("+", deed.to)] }, recipient: sender };
    case "ipfs":
      return { type: 5, asset: { ipfs: `Qm${names.transactionId(number).slice(0, 44)}` } };
    case "payments":
      return {
        type: 6,
        asset: { payments: deed.payments.map(({ recipient, amount }) => ({ amount: String(amount), recipientId: addressOf(recipient) })) },
      };
    case "resignation":
      return { type: 7 };
    case "lock":
      return {
        type: 8,
        asset: { lock: { secretHash: names.secretHash(number), expiration: { type: 2, value: deed.expiresAt } } },
        recipient: deed.recipient,
      };
    case "claim":
      return {
        type: 9,
        asset: { claim: { lockTransactionId: names.transactionId(deed.lock.transaction), unlockSecret: names.secretHash(number) } },
      };
    case "refund":
      return { type: 10, asset: { refund: { lockTransactionId: names.transactionId(deed.lock.transaction) } } };
  }
};

/** Half of the vendor fields are in many transactions, half in few. */
const noteOf = (note: number): string => (note <= 100 ? `Payout ${note}` : `invoice ${note * 7}`);

const versionMembers = ({ number, version, nonce }: PlannedTransaction) =>
  version === 1
    ? { signature: names.derSignature(number) }
    : { network: names.pubKeyHash, nonce: BigInt(nonce), signature: names.schnorrSignature(number), expiration: 0 };

const renderTransaction = (planned: PlannedTransaction, sequence: number, block: Pick<Block, "id" | "height" | "timestamp">, addressOf: AddressOf): Transaction => {
  const { number, version, sender, amount, fee, signsTwice, note } = planned;
  const { type, asset, recipient } = kindOf(planned, addressOf);
  return {
    id: names.transactionId(number),
    version,
    typeGroup: 1,
    type,
    timestamp: block.timestamp,
    senderPublicKey: names.publicKeyOf(sender),
    senderId: addressOf(sender),
    ...(recipient === undefined ? {} : { recipientId: addressOf(recipient) }),
    amount: BigInt(amount),
    fee: BigInt(fee),
    ...(note === 0 ? {} : { vendorField: noteOf(note) }),
    ...(asset === undefined ? {} : { asset }),
    ...versionMembers(planned),
    ...(signsTwice ? { secondSignature: names.secondSignature(number) } : {}),
    blockId: block.id,
    blockHeight: block.height,
    sequence,
  };
};

const sum = (transactions: readonly PlannedTransaction[], member: "amount" | "fee"): bigint =>
  transactions.reduce((total, transaction) => total + BigInt(transaction[member]), 0n);

export const createRender = (wallets: number): Render => {
  const addressOf = names.createAddresses(wallets);
  return ({ height, generator, transactions }) => {
    const block: Block = {
      id: names.blockId(height),
      version: 0,
      height,
      timestamp: (height - 1) * blocktime,
      previousBlock: height === 1 ? null : names.blockId(height - 1),
      numberOfTransactions: transactions.length,
      totalAmount: sum(transactions, "amount"),
      totalFee: sum(transactions, "fee"),
      reward: height === 1 ? 0n : BigInt(reward),
      payloadLength: transactions.length * 32,
      payloadHash: names.payloadHash(height),
      generatorPublicKey: names.publicKeyOf(generator),
      blockSignature: names.blockSignature(height),
    };
    return { block, transactions: transactions.map((transaction, sequence) => renderTransaction(transaction, sequence, block, addressOf)) };
  };
};
