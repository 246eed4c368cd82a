import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { LockFilter, LockOrder, LockQuery } from "../../../types/chain-queries.js";
import { PorticoError } from "../../errors.js";
import { Amount, amountUnit, Flag, OrderBy, Range, Text, TimeRange, WholeNumber } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { type LockResource, presentLock } from "../resources/lock.js";
import type { ApiState } from "../state.js";
import { Address, Hash, inKnownCase, PublicKey } from "./fields.js";
import { type ListRequest, pageOf } from "./page.js";

const fields = ({ exact }: { exact: boolean }) => ({
  lockId: Type.Optional(Hash),
  senderPublicKey: Type.Optional(PublicKey),
  senderId: Type.Optional(Address),
  recipientId: Type.Optional(Address),
  secretHash: Type.Optional(Hash),
  vendorField: Type.Optional(Text({ description: "Exact match." })),
  isExpired: Type.Optional(Flag({ description: "Whether it can be refunded at the tip." })),
  expirationType: Type.Optional(WholeNumber({ minimum: 1, maximum: 2, description: "1: it expires at a time, 2: at a height." })),
  amount: Type.Optional(Range(Amount(), { exact, description: `What is locked. ${amountUnit}` })),
  expirationValue: Type.Optional(Range(WholeNumber({ minimum: 0 }), { exact, description: "When it expires: seconds since the network's epoch, or a height, as `expirationType` says." })),
  timestamp: Type.Optional(TimeRange({ exact, description: "When it was made" })),
});

const orders: readonly LockOrder[] = ["timestamp", "amount", "expirationValue", "lockId"];
const order = { default: "timestamp:desc" };

export const LockListQuery = Type.Object({ ...fields({ exact: true }), orderBy: OrderBy(orders, order) });
export const LockSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const LockSearchBody = Type.Object({ ...fields({ exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

type PresentedLock = Static<typeof LockResource>;

export const listLocks = (request: ListRequest<LockFilter, LockQuery["order"]>, { chain, rules }: ApiState): MaybePromise<PageAnswer<PresentedLock>> =>
  pageOf(request, (query) => chain.locks(query), (lock) => presentLock(lock, { tip: chain.tip, epoch: rules.epoch }));

/** An open lock. @throws PorticoError LOCK_NOT_FOUND */
export const findLock = async (id: string, { chain, rules }: ApiState): Promise<PresentedLock> => {
  const lock = await chain.lock(inKnownCase(id));
  if (lock === undefined) throw new PorticoError("LOCK_NOT_FOUND");
  return presentLock(lock, { tip: chain.tip, epoch: rules.epoch });
};
