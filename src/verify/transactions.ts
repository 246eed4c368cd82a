import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { TransactionData } from "../../types/events.js";
import type { TransactionForm } from "../../types/transaction-type.js";
import { addressBytes, addressOf } from "../chain/address.js";
import { parseAmount } from "../chain/amount.js";
import { fromBase58 } from "../chain/base58.js";
import { littleEndian } from "./bytes.js";
import type { Exceptions } from "./exceptions.js";

/** What of a network decides how its transactions are written. */
export interface WireRules {
  /** The content of network.json, of which the version byte of addresses is read. */
  network: { pubKeyHash: number };
  exceptions?: Exceptions | undefined;
}

/** The assets of the core's types that are written. */
interface Assets {
  signature?: { publicKey: string };
  delegate?: { username: string };
  votes?: string[];
  multiSignature?: { min: number; publicKeys: string[] };
  /** Of version 1. Nodes before 2.6 named it `multisignature`. */
  multiSignatureLegacy?: { min: number; lifetime: number; keysgroup: string[] };
  multisignature?: { min: number; lifetime: number; keysgroup: string[] };
  ipfs?: string;
  payments?: { amount: string; recipientId: string }[];
  lock?: { secretHash: string; expiration: { type: number; value: number } };
  claim?: { lockTransactionId: string; unlockSecret: string };
  refund?: { lockTransactionId: string };
}

const assetOf = <Member extends keyof Assets>({ asset }: Pick<TransactionData, "asset">, member: Member): NonNullable<Assets[Member]> => {
  const assets: Assets | undefined = asset;
  const part = assets?.[member];
  if (part === undefined) throw new RangeError(`asset.${member} is missing`);
  return part;
};

const amountBytes = (amount: TransactionData["amount"]): Uint8Array => littleEndian(8, parseAmount(amount));

/** Chain files have null, "" or nothing for what a transaction does not have. */
const isMissing = (text: string | null | undefined): text is "" | null | undefined => (text ?? "") === "";

/** An address of another network is written as it is: some old transactions have one. */
const recipientBytes = ({ recipientId }: Pick<TransactionData, "recipientId">): Uint8Array =>
  isMissing(recipientId) ? new Uint8Array() : addressBytes(recipientId);

const counted = (items: readonly Uint8Array[]): Uint8Array => concatBytes(littleEndian(1, items.length), ...items);

/** What the core's types of version 2 have between vendor field and signatures, by number of the type. */
const coreForms: Readonly<Record<number, TransactionForm>> = {
  0: {
    hasVendorField: true,
    serialize: (transaction) =>
      concatBytes(amountBytes(transaction.amount), littleEndian(4, transaction.expiration ?? 0), recipientBytes(transaction)),
  },
  1: { serialize: (transaction) => hexToBytes(assetOf(transaction, "signature").publicKey) },
  2: {
    serialize: (transaction) => {
      const username = utf8ToBytes(assetOf(transaction, "delegate").username);
      return concatBytes(littleEndian(1, username.length), username);
    },
  },
  3: { serialize: (transaction) => counted(assetOf(transaction, "votes").map((vote) => hexToBytes((vote.startsWith("+") ? "01" : "00") + vote.slice(1)))) },
  4: {
    serialize: (transaction) => {
      const { min, publicKeys } = assetOf(transaction, "multiSignature");
      return concatBytes(littleEndian(1, min), counted(publicKeys.map(hexToBytes)));
    },
  },
  5: { serialize: (transaction) => fromBase58(assetOf(transaction, "ipfs")) },
  6: {
    hasVendorField: true,
    serialize: (transaction) => {
      const payments = assetOf(transaction, "payments");
      return concatBytes(littleEndian(2, payments.length), ...payments.flatMap((payment) => [amountBytes(payment.amount), recipientBytes(payment)]));
    },
  },
  7: { serialize: () => new Uint8Array() },
  8: {
    hasVendorField: true,
    serialize: (transaction) => {
      const { secretHash, expiration } = assetOf(transaction, "lock");
      const until = [littleEndian(1, expiration.type), littleEndian(4, expiration.value)];
      return concatBytes(amountBytes(transaction.amount), hexToBytes(secretHash), ...until, recipientBytes(transaction));
    },
  },
  9: {
    serialize: (transaction) => {
      const { lockTransactionId, unlockSecret } = assetOf(transaction, "claim");
      return hexToBytes(lockTransactionId + unlockSecret);
    },
  },
  10: { serialize: (transaction) => hexToBytes(assetOf(transaction, "refund").lockTransactionId) },
};

/** Assets that version 1 has in its bytes, by number of the type. */
const firstAssets: Readonly<Record<number, (transaction: TransactionData) => Uint8Array>> = {
  1: (transaction) => hexToBytes(assetOf(transaction, "signature").publicKey),
  2: (transaction) => utf8ToBytes(assetOf(transaction, "delegate").username),
  3: (transaction) => utf8ToBytes(assetOf(transaction, "votes").join("")),
  4: (transaction) => {
    const { min, lifetime, keysgroup } = assetOf(transaction, transaction.asset !== undefined && "multisignature" in transaction.asset ? "multisignature" : "multiSignatureLegacy");
    return concatBytes(littleEndian(1, min), littleEndian(1, lifetime), utf8ToBytes(keysgroup.join("")));
  },
};

/** Types 1 and 4 were written without their recipient, but for those whose ids the network has as exceptions. */
const firstRecipient = ({ id, type, recipientId, senderPublicKey }: TransactionData, { network, exceptions }: WireRules): Uint8Array => {
  if (Object.values(exceptions?.transactionIdFixTable ?? {}).includes(id)) return addressBytes(isMissing(recipientId) ? addressOf(senderPublicKey, network.pubKeyHash) : recipientId);
  return isMissing(recipientId) || type === 1 || type === 4 ? new Uint8Array(21) : addressBytes(recipientId);
};

const padded = (bytes: Uint8Array, size: number): Uint8Array => concatBytes(bytes, new Uint8Array(Math.max(0, size - bytes.length)));

/** The form of version 1, from before AIP-11. */
const serializeFirst = (transaction: TransactionData, rules: WireRules): Uint8Array =>
  concatBytes(
    littleEndian(1, transaction.type),
    littleEndian(4, transaction.timestamp ?? 0),
    hexToBytes(transaction.senderPublicKey),
    firstRecipient(transaction, rules),
    padded(utf8ToBytes(transaction.vendorField ?? ""), 64),
    amountBytes(transaction.amount),
    amountBytes(transaction.fee),
    firstAssets[transaction.type]?.(transaction) ?? new Uint8Array(),
    hexToBytes((transaction.signature ?? "") + (transaction.secondSignature ?? transaction.signSignature ?? "")),
  );

/** The form of version 2: AIP-11. */
const serializeSecond = (transaction: TransactionData, { network }: WireRules, { serialize, hasVendorField = false }: TransactionForm): Uint8Array => {
  const { secondSignature = transaction.signSignature } = transaction;
  const vendorField = utf8ToBytes(hasVendorField ? (transaction.vendorField ?? "") : "");
  return concatBytes(
    Uint8Array.of(0xff, transaction.version ?? 2, transaction.network ?? network.pubKeyHash),
    littleEndian(4, transaction.typeGroup ?? 1),
    littleEndian(2, transaction.type),
    amountBytes(transaction.nonce ?? 0),
    hexToBytes(transaction.senderPublicKey),
    amountBytes(transaction.fee),
    littleEndian(1, vendorField.length),
    vendorField,
    serialize(transaction),
    hexToBytes([transaction.signature, secondSignature, ...(transaction.signatures ?? [])].join("")),
  );
};

/**
 * The bytes of a transaction with all signatures; their hash is its id. Version 1 is written as before AIP-11, version 2 as AIP-11 specifies.
 * `form` is that of a fork's own type. Undefined for a type without one. @throws Error if a member is missing or malformed
 */
export const serializeTransaction = (transaction: TransactionData, rules: WireRules, form?: TransactionForm): Uint8Array | undefined => {
  if ((transaction.version ?? 1) === 1) return serializeFirst(transaction, rules);
  const found = form ?? ((transaction.typeGroup ?? 1) === 1 ? coreForms[transaction.type] : undefined);
  return found === undefined ? undefined : serializeSecond(transaction, rules, found);
};

/** The id that a transaction of these bytes has. */
export const transactionIdOf = (serialized: Uint8Array, { transactionIdFixTable = {} }: Exceptions = {}): string => {
  const hash = bytesToHex(sha256(serialized));
  return Object.hasOwn(transactionIdFixTable, hash) ? (transactionIdFixTable[hash] ?? hash) : hash;
};
