import { type Static, Type } from "@sinclair/typebox";
import type { Transaction } from "../../../../types/chain.js";
import type { UnconfirmedTransaction } from "../../../chain/blocks/block.js";
import type { Epoch } from "../../../chain/epoch.js";
import { Amount } from "../values/amount.js";
import { AssetResource, presentAsset } from "./asset.js";
import { TextOrNull } from "../values/text.js";
import { TimestampResource } from "../values/timestamp.js";

const common = {
  id: Type.String(),
  version: Type.Integer(),
  type: Type.Integer(),
  typeGroup: Type.Integer(),
  amount: Amount,
  fee: Amount,
  sender: Type.String(),
  senderPublicKey: Type.String(),
  recipient: Type.String({ description: "The sender if the transaction names no recipient of its own, or has several payments. Filters go by those that are named." }),
  signature: Type.Optional(Type.String({ description: "Absent if a multisignature wallet signed." })),
  signSignature: TextOrNull,
  signatures: Type.Optional(Type.Array(Type.String())),
  vendorField: Type.Optional(Type.String()),
  asset: Type.Optional(AssetResource),
  nonce: Type.Optional(Type.String({ pattern: "^[0-9]+$", description: "Only in version 2." })),
};

export const TransactionResource = Type.Object(
  {
    ...common,
    blockId: Type.String(),
    confirmations: Type.Integer({ description: "Height of the tip minus that of its block, plus 1." }),
    timestamp: TimestampResource,
  },
  { title: "Transaction" },
);

/** A transaction in the pool: it has no block yet, and in version 2 no timestamp. */
export const UnconfirmedTransactionResource = Type.Object(
  {
    ...common,
    confirmations: Type.Literal(0),
    timestamp: Type.Optional(TimestampResource),
    expiration: Type.Optional(Type.Integer({ description: "Height from which no block can contain it; 0 means never." })),
  },
  { title: "UnconfirmedTransaction" },
);

type Common = Omit<Static<typeof UnconfirmedTransactionResource>, "confirmations" | "timestamp" | "expiration">;

/** Members are assigned one by one, which is faster than spreading: a page has up to a hundred transactions. */
const presentCommon = (transaction: UnconfirmedTransaction): Common => {
  const { signature, signatures, vendorField, asset, nonce } = transaction;
  const shown: Common = {
    id: transaction.id,
    version: transaction.version,
    type: transaction.type,
    typeGroup: transaction.typeGroup,
    amount: transaction.amount,
    fee: transaction.fee,
    sender: transaction.senderId,
    senderPublicKey: transaction.senderPublicKey,
    recipient: transaction.recipientId ?? transaction.senderId,
    signSignature: transaction.secondSignature ?? null,
  };
  if (signature !== undefined) shown.signature = signature;
  if (signatures !== undefined) shown.signatures = signatures;
  if (vendorField !== undefined) shown.vendorField = vendorField;
  if (asset !== undefined) shown.asset = presentAsset(asset);
  if (nonce !== undefined) shown.nonce = nonce.toString();
  return shown;
};

export const presentTransaction = (
  transaction: Transaction,
  { tipHeight, epoch }: { tipHeight: number; epoch: Epoch },
): Static<typeof TransactionResource> =>
  Object.assign(presentCommon(transaction), {
    blockId: transaction.blockId,
    confirmations: tipHeight - transaction.blockHeight + 1,
    timestamp: epoch.timestamp(transaction.timestamp),
  });

export const presentUnconfirmed = (transaction: UnconfirmedTransaction, epoch: Epoch): Static<typeof UnconfirmedTransactionResource> => ({
  ...presentCommon(transaction),
  confirmations: 0,
  ...(transaction.timestamp === undefined ? {} : { timestamp: epoch.timestamp(transaction.timestamp) }),
  ...(transaction.expiration === undefined ? {} : { expiration: transaction.expiration }),
});
