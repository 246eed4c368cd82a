import { type Static, Type } from "@sinclair/typebox";
import type { Lock, Tip } from "../../../types/chain.js";
import type { Epoch } from "../../chain/epoch.js";
import { isExpired } from "../../chain/locks.js";
import { Amount } from "./values/amount.js";
import { TimestampResource } from "./values/timestamp.js";

export const LockResource = Type.Object(
  {
    lockId: Type.String({ description: "Id of the lock transaction." }),
    senderPublicKey: Type.String(),
    senderId: Type.String(),
    recipientId: Type.String(),
    isExpired: Type.Boolean({ description: "Whether it can be refunded at the tip." }),
    amount: Amount,
    secretHash: Type.String(),
    timestamp: TimestampResource,
    expirationType: Type.Integer({ description: "1: the value is an epoch time; 2: the value is a height." }),
    expirationValue: Type.Integer(),
    vendorField: Type.Optional(Type.String()),
  },
  { title: "Lock" },
);

export const presentLock = (lock: Lock, { tip, epoch }: { tip: Tip; epoch: Epoch }): Static<typeof LockResource> => ({
  lockId: lock.lockId,
  senderPublicKey: lock.senderPublicKey,
  senderId: lock.senderId,
  recipientId: lock.recipientId,
  isExpired: isExpired(lock, tip),
  amount: lock.amount,
  secretHash: lock.secretHash,
  timestamp: epoch.timestamp(lock.timestamp),
  expirationType: lock.expiration.type,
  expirationValue: lock.expiration.value,
  ...(lock.vendorField === undefined ? {} : { vendorField: lock.vendorField }),
});
