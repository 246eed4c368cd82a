import "./crypto-backend.js";
import { Blocks, Crypto, Identities, type Interfaces, Managers, Networks, Transactions, Utils } from "@arkecosystem/crypto";
import type { BlockData, TransactionData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";

/**
 * The only file that uses `@arkecosystem/crypto`. That package keeps its network and height in a global (`configManager`), so every
 * function here first sets both to its own.
 */

export type Keys = Interfaces.IKeyPair;
export type SignedTransaction = Interfaces.ITransaction;
export type SignedBlock = Interfaces.IBlock;

/** A transaction before it is signed. */
export interface Order {
  type: number;
  fee: bigint;
  nonce: bigint;
  amount?: bigint;
  recipientId?: string;
  vendorField?: string;
  /** Amounts within are decimal strings. */
  asset?: Record<string, unknown>;
  /** Height from which it can no longer be forged; 0 for never. */
  expiration?: number;
}

/** Who signs: one key (and perhaps a second one), or the participants of a multisignature wallet. */
export interface Signers {
  senderPublicKey: string;
  keys?: Keys;
  secondKeys?: Keys;
  /** `index`: position in the wallet's list of public keys. */
  participants?: { index: number; keys: Keys }[];
}

export interface MultiSignatureAsset {
  min: number;
  publicKeys: string[];
}

/** Constants of the network at a height, as far as this host reads them. */
export interface Constants {
  reward: number;
  activeDelegates: number;
  blocktime: number;
  epoch: string;
  aip11?: boolean;
  block: { version: number; maxTransactions: number; maxPayload: number };
  fees: { staticFees: Record<string, number> };
}

export interface BlockOrder {
  tip: { height: number; id: string };
  timestamp: number;
  transactions: SignedTransaction[];
  keys: Keys;
}

export interface ChainCrypto {
  readonly network: Network;
  keysOf(passphrase: string): Keys;
  addressOf(publicKey: string): string;
  multiSignatureKey(asset: MultiSignatureAsset): string;
  constantsAt(height: number): Constants;
  /** A version 2 transaction, signed for the block after a tip. */
  sign(order: Order, signers: Signers, tipHeight: number): SignedTransaction;
  /** A version 1 transaction of genesis, in the same form as in the presets. */
  signGenesis(order: Omit<Order, "nonce" | "expiration">, keys: Keys): TransactionData & { timestamp: number };
  /** Parses what a client sent, and checks schema, addresses and first signature. @throws Error that says what is wrong */
  parse(data: TransactionData, tipHeight: number): SignedTransaction;
  verifySecondSignature(transaction: SignedTransaction, publicKey: string, tipHeight: number): boolean;
  verifyParticipants(transaction: SignedTransaction, asset: MultiSignatureAsset, tipHeight: number): boolean;
  forge(order: BlockOrder): SignedBlock;
  /** Signs a block without checking its transactions, since genesis is made before its network exists. */
  signBlock<T extends Omit<BlockData, "id">>(block: T, keys: Keys): T & { id: string; blockSignature: string };
  /** Parses a whole block and checks what can be checked from its bytes alone; `verification` has the result. */
  readBlock(block: BlockData): SignedBlock;
}

const amount = (value: bigint | string | number): Utils.BigNumber => Utils.BigNumber.make(value);

/** The package requires big-number objects for the amounts in an asset. */
const withAmounts = (asset: Record<string, unknown>): Interfaces.ITransactionAsset => {
  const payments = asset.payments as { amount: string; recipientId: string }[] | undefined;
  if (payments === undefined) return asset;
  return { ...asset, payments: payments.map((payment) => ({ recipientId: payment.recipientId, amount: amount(payment.amount) })) };
};

const sha256OfIds = (ids: string[]): string => Crypto.HashAlgorithms.sha256(ids.map((id) => Buffer.from(id, "hex"))).toString("hex");

/** The members of a block that describe its transactions. */
export const payloadOf = (transactions: { id: string; amount: bigint; fee: bigint }[]) => ({
  numberOfTransactions: transactions.length,
  totalAmount: transactions.reduce((sum, transaction) => sum + transaction.amount, 0n).toString(),
  totalFee: transactions.reduce((sum, transaction) => sum + transaction.fee, 0n).toString(),
  payloadLength: 32 * transactions.length,
  payloadHash: sha256OfIds(transactions.map(({ id }) => id)),
});

export const idOf = (transaction: SignedTransaction): string => {
  const { id } = transaction.data;
  if (id === undefined) throw new TypeError("a signed transaction has an id");
  return id;
};

/** The package would fail at the first of these with a message about its own code. */
const requireNumbers = (data: TransactionData): void => {
  for (const name of data.version === 1 ? (["amount", "fee"] as const) : (["amount", "fee", "nonce"] as const)) {
    if (data[name] === undefined) throw new Error(`Its ${name} is missing.`);
    if (!/^\d{1,40}$/.test(String(data[name]))) throw new Error(`Its ${name} must be a whole number.`);
  }
};

let present: ChainCrypto | undefined;

export const createCrypto = (network: Network): ChainCrypto => {
  const { pubKeyHash } = network.network;

  const at = (tipHeight: number): void => {
    if (present !== self) {
      // A copy, because the package merges the milestones in place.
      Managers.configManager.setConfig(structuredClone(network) as unknown as Interfaces.NetworkConfig);
      present = self;
    }
    Managers.configManager.setHeight(tipHeight);
  };

  const sign = (order: Order, signers: Signers, tipHeight: number): SignedTransaction => {
    at(tipHeight);
    // Version 2 has no timestamp, though the package's type requires one.
    const data = {
      version: 2,
      network: pubKeyHash,
      typeGroup: 1,
      type: order.type,
      nonce: amount(order.nonce),
      senderPublicKey: signers.senderPublicKey,
      fee: amount(order.fee),
      amount: amount(order.amount ?? 0n),
      ...(order.recipientId === undefined ? {} : { recipientId: order.recipientId }),
      ...(order.vendorField === undefined ? {} : { vendorField: order.vendorField }),
      ...(order.asset === undefined ? {} : { asset: withAmounts(order.asset) }),
      ...(order.type === 0 ? { expiration: order.expiration ?? 0 } : {}),
    } as Interfaces.ITransactionData;
    for (const { index, keys } of signers.participants ?? []) Transactions.Signer.multiSign(data, keys, index);
    if (signers.keys !== undefined) Transactions.Signer.sign(data, signers.keys);
    if (signers.secondKeys !== undefined) Transactions.Signer.secondSign(data, signers.secondKeys);
    data.id = Transactions.Utils.getId(data);
    return Transactions.TransactionFactory.fromData(data);
  };

  const signGenesis: ChainCrypto["signGenesis"] = (order, keys) => {
    at(1);
    const data: Interfaces.ITransactionData = {
      type: order.type,
      amount: amount(order.amount ?? 0n),
      fee: amount(order.fee),
      ...(order.recipientId === undefined ? {} : { recipientId: order.recipientId }),
      timestamp: 0,
      asset: order.asset ?? {},
      senderPublicKey: keys.publicKey,
    };
    const signature = Transactions.Signer.sign(data, keys);
    return {
      type: data.type,
      amount: data.amount.toString(),
      fee: data.fee.toString(),
      ...(order.recipientId === undefined ? {} : { recipientId: order.recipientId }),
      timestamp: 0,
      asset: order.asset ?? {},
      senderPublicKey: keys.publicKey,
      signature,
      id: Transactions.Utils.getId(data),
    };
  };

  const parse = (data: TransactionData, tipHeight: number): SignedTransaction => {
    requireNumbers(data);
    at(tipHeight);
    const copy = JSON.parse(JSON.stringify(data, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))) as Interfaces.ITransactionJson;
    return Transactions.TransactionFactory.fromJson(copy);
  };

  const forge = ({ tip, timestamp, transactions, keys }: BlockOrder): SignedBlock => {
    at(tip.height);
    const constants = self.constantsAt(tip.height + 1);
    const payload = payloadOf(
      transactions.map(({ data }) => ({ id: data.id ?? "", amount: data.amount.toBigInt(), fee: data.fee.toBigInt() })),
    );
    const block = Blocks.BlockFactory.make(
      {
        version: constants.block.version,
        height: tip.height + 1,
        timestamp,
        previousBlock: tip.id,
        reward: amount(constants.reward),
        ...payload,
        totalAmount: amount(payload.totalAmount),
        totalFee: amount(payload.totalFee),
        transactions: transactions.map(({ data }) => data),
      },
      keys,
    );
    if (block === undefined) throw new Error(`block ${tip.height + 1} does not pass the block schema`);
    return block;
  };

  const signBlock: ChainCrypto["signBlock"] = (block, keys) => {
    at(block.height);
    const data = {
      ...block,
      reward: amount(String(block.reward)),
      totalAmount: amount(String(block.totalAmount)),
      totalFee: amount(String(block.totalFee)),
      transactions: undefined,
    } as unknown as Interfaces.IBlockData;
    const hash = Crypto.HashAlgorithms.sha256(Blocks.Serializer.serialize(data, false));
    data.blockSignature = Crypto.Hash.signECDSA(hash, keys);
    return { ...block, id: Blocks.Block.getId(data), blockSignature: data.blockSignature };
  };

  const readBlock = (block: BlockData): SignedBlock => {
    at(Math.max(1, block.height - 1));
    const read = Blocks.BlockFactory.fromJson(structuredClone(block) as unknown as Interfaces.IBlockJson);
    if (read === undefined) throw new Error(`block ${block.height} does not pass the block schema`);
    return read;
  };

  const self: ChainCrypto = {
    network,
    keysOf: (passphrase) => Identities.Keys.fromPassphrase(passphrase),
    addressOf: (publicKey) => Identities.Address.fromPublicKey(publicKey, pubKeyHash),
    multiSignatureKey: (asset) => Identities.PublicKey.fromMultiSignatureAsset(asset),
    constantsAt: (height) => {
      at(height);
      return Managers.configManager.getMilestone(height) as Constants;
    },
    sign,
    signGenesis,
    parse,
    verifySecondSignature: (transaction, publicKey, tipHeight) => {
      at(tipHeight);
      return Transactions.Verifier.verifySecondSignature(transaction.data, publicKey);
    },
    verifyParticipants: (transaction, asset, tipHeight) => {
      at(tipHeight);
      return Transactions.Verifier.verifySignatures(transaction.data, asset);
    },
    forge,
    signBlock,
    readBlock,
  };
  return self;
};

export const presetNames = ["testnet", "devnet", "mainnet"] as const;

/** One of the package's networks. A copy, because the package merges a preset's milestones in place when it is used. */
export const presetNetwork = (name: (typeof presetNames)[number]): Network => structuredClone(Networks[name]) as unknown as Network;

/** Members for a transaction's place in the chain, which follows from its block. */
const places = new Set(["blockId", "blockHeight", "sequence"]);

/** A transaction in its wire form: amounts as decimal strings, version 2 without a timestamp. */
export const transactionData = ({ data }: SignedTransaction): TransactionData =>
  JSON.parse(
    JSON.stringify(data, (name, value: unknown) => (places.has(name) || (name === "timestamp" && data.version === 2) ? undefined : value)),
  ) as TransactionData;

/** A whole block in the form of chain files. */
export const blockData = (block: SignedBlock): BlockData => {
  const { id, version, timestamp, height, previousBlock, numberOfTransactions, payloadLength, payloadHash, generatorPublicKey, blockSignature } = block.data;
  return {
    id: String(id),
    version,
    timestamp,
    height,
    previousBlock,
    numberOfTransactions,
    totalAmount: block.data.totalAmount.toString(),
    totalFee: block.data.totalFee.toString(),
    reward: block.data.reward.toString(),
    payloadLength,
    payloadHash,
    generatorPublicKey,
    blockSignature,
    transactions: block.transactions.map(transactionData),
  };
};

export const blockIds = (block: SignedBlock): string[] => block.transactions.map(idOf);
