import { type Static, Type } from "@sinclair/typebox";
import type { Transaction } from "../../../../types/chain.js";
import type { UnconfirmedTransaction } from "../../../chain/blocks/block.js";
import { Amount } from "../../resources/values/amount.js";
import { FlatAssetResource, presentAsset } from "../../resources/transactions/asset.js";

const common = {
  id: Type.String(),
  version: Type.Integer(),
  typeGroup: Type.Integer(),
  type: Type.Integer(),
  amount: Amount,
  fee: Amount,
  recipientId: Type.String({ description: "The sender if the transaction names no recipient of its own, or has several payments. Filters go by those that are named." }),
  senderId: Type.String(),
  senderPublicKey: Type.String(),
  vendorField: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
  signSignature: Type.Optional(Type.String()),
  signatures: Type.Optional(Type.Array(Type.String())),
  asset: FlatAssetResource,
};

const Timestamp = Type.Integer({ description: "Seconds since the network's epoch." });

export const TransactionResource = Type.Object(
  {
    ...common,
    blockid: Type.String(),
    timestamp: Timestamp,
    confirmations: Type.Integer({ description: "Height of the tip minus that of its block, plus 1." }),
  },
  { title: "FlatTransaction" },
);

/** A transaction in the pool: it has no block yet, and in version 2 no timestamp. */
export const UnconfirmedTransactionResource = Type.Object(
  { ...common, timestamp: Type.Optional(Timestamp), confirmations: Type.Literal(0) },
  { title: "FlatUnconfirmedTransaction" },
);

const presentCommon = (transaction: UnconfirmedTransaction) => ({
  id: transaction.id,
  version: transaction.version,
  typeGroup: transaction.typeGroup,
  type: transaction.type,
  amount: transaction.amount,
  fee: transaction.fee,
  recipientId: transaction.recipientId ?? transaction.senderId,
  senderId: transaction.senderId,
  senderPublicKey: transaction.senderPublicKey,
  ...(transaction.vendorField === undefined ? {} : { vendorField: transaction.vendorField }),
  ...(transaction.signature === undefined ? {} : { signature: transaction.signature }),
  ...(transaction.secondSignature === undefined ? {} : { signSignature: transaction.secondSignature }),
  ...(transaction.signatures === undefined ? {} : { signatures: transaction.signatures }),
  asset: presentAsset(transaction.asset ?? {}),
});

export const presentTransaction = (transaction: Transaction, tipHeight: number): Static<typeof TransactionResource> => ({
  ...presentCommon(transaction),
  blockid: transaction.blockId,
  timestamp: transaction.timestamp,
  confirmations: tipHeight - transaction.blockHeight + 1,
});

export const presentUnconfirmed = (transaction: UnconfirmedTransaction): Static<typeof UnconfirmedTransactionResource> => ({
  ...presentCommon(transaction),
  ...(transaction.timestamp === undefined ? {} : { timestamp: transaction.timestamp }),
  confirmations: 0,
});
