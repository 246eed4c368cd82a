import { type Static, Type } from "@sinclair/typebox";
import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type { LockFilter, LockQuery, Order, TransactionOrder } from "../../../types/chain-queries.js";
import type { Lock, Tip, Transaction } from "../../../types/chain.js";
import { Amount, DataOf, Hash, inKnownCase, inputsOf, largestSearch, type ListRequest, pageOf, TimestampResource } from "../fields.js";
import { type ApiState, requireSupport } from "../state.js";
import { compareTransactions, presentTransactionOf, TransactionResource, TransactionSearchQuery } from "./transactions.js";
import { htlcClaimKind, htlcRefundKind } from "../../chain/blocks/transaction-types.js";
import type { Epoch } from "../../chain/epoch.js";
import { lockList } from "../../chain/lists.js";
import { isExpired, lockEndedBy } from "../../chain/locks.js";
import { PorticoError } from "../../errors.js";
import { ListOf, OrderBy, Text } from "../../http/input/schema.js";
import { type PageAnswer, type PageRequest, type Route, routesOf } from "../../http/route.js";

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

const presentLock = (lock: Lock, { tip, epoch }: { tip: Tip; epoch: Epoch }): Static<typeof LockResource> => ({
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

const { filters, orders } = lockList;
const order = { default: "timestamp:desc" };

export const LockListQuery = Type.Object({ ...inputsOf(filters, { exact: true }), orderBy: OrderBy(orders, order) });
const LockSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
const LockSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

type PresentedLock = Static<typeof LockResource>;

export const listLocks = (request: ListRequest<LockFilter, LockQuery["order"]>, { chain, rules }: ApiState): MaybePromise<PageAnswer<PresentedLock>> =>
  pageOf(request, (query) => chain.locks(query), (lock) => presentLock(lock, { tip: chain.tip, epoch: rules.epoch }));

/** An open lock. @throws PorticoError LOCK_NOT_FOUND */
export const findLock = async (id: string, { chain, rules }: ApiState): Promise<PresentedLock> => {
  const lock = await chain.lock(inKnownCase(id));
  if (lock === undefined) throw new PorticoError("LOCK_NOT_FOUND");
  return presentLock(lock, { tip: chain.tip, epoch: rules.epoch });
};

/** Locks, open or ended, given by the ids of their lock transactions. */
const UnlockedBody = Type.Object({ ids: ListOf(Hash, { minItems: 1, maxItems: 25, description: "Ids of lock transactions." }) });

const stride = 500;

/** The ids whose locks have ended, and the epoch time before which none of them can have ended. */
const endedLocks = async (ids: string[], chain: ChainSnapshot): Promise<{ ended: Set<string>; since: number }> => {
  const ended = new Set<string>();
  let since = Infinity;
  for (const id of new Set(ids)) {
    const transaction = await chain.transaction(id);
    if (transaction?.asset?.lock === undefined || (await chain.lock(id)) !== undefined) continue;
    ended.add(id);
    since = Math.min(since, transaction.timestamp);
  }
  return { ended, since };
};

/**
 * The claims and refunds that ended the locks. No index leads from a lock to its end, so all claims and refunds since the first of
 * the locks are scanned until each lock's is found; a lock ends only once.
 */
const endings = async (ids: string[], chain: ChainSnapshot): Promise<Transaction[]> => {
  const { ended, since } = await endedLocks(ids, chain);
  const found: Transaction[] = [];
  for (const kind of [htlcClaimKind, htlcRefundKind]) {
    for (let offset = 0; ended.size > 0; offset += stride) {
      const { rows } = await chain.transactions({
        filter: { ...kind, timestamp: { from: since } },
        order: { field: "timestamp", direction: "asc" },
        offset,
        limit: stride,
      });
      found.push(...rows.filter((transaction) => ended.delete(lockEndedBy(transaction) ?? "")));
      if (rows.length < stride) break;
    }
  }
  return found;
};

/** The transactions that claimed or refunded the locks. Ids of open locks or of anything else are ignored. */
const listUnlocked = async (
  { ids, orderBy, page: { offset, limit } }: { ids: string[]; orderBy: Order<TransactionOrder>; page: PageRequest },
  state: ApiState,
): Promise<PageAnswer<Static<typeof TransactionResource>>> => {
  const rows = (await endings(ids, state.chain)).sort(compareTransactions(orderBy));
  return { rows: rows.slice(offset, offset + limit).map((transaction) => presentTransactionOf(transaction, state)), total: rows.length };
};

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "locks", errors: [501] } as const;

export const lockRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/locks",
    summary: "Lists open locks.",
    query: LockListQuery,
    item: LockResource,
    answer: ({ query: { orderBy, ...filter }, page }, state) => {
      requireSupport("locks", state);
      return listLocks({ filter, orderBy, page }, state);
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/locks/search",
    mostBody: largestSearch,
    reserved: true,
    summary: "Searches open locks.",
    query: LockSearchQuery,
    body: LockSearchBody,
    bodyOptional: true,
    item: LockResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => {
      requireSupport("locks", state);
      return listLocks({ filter, orderBy, page }, state);
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/locks/unlocked",
    operation: "getUnlockedLocks",
    summary: "Lists the transactions that claimed or refunded the given locks.",
    query: TransactionSearchQuery,
    body: UnlockedBody,
    item: TransactionResource,
    answer: ({ query: { orderBy }, body: { ids }, page }, state) => {
      requireSupport("locks", state);
      return listUnlocked({ ids, orderBy, page }, state);
    },
  }),
  item({
    ...common,
    method: "GET",
    path: "/locks/{id}",
    summary: "Returns an open lock.",
    params: Type.Object({ id: Text({ description: "Id of the lock transaction." }) }),
    errors: [404, 501],
    reply: DataOf(LockResource),
    answer: async ({ params: { id } }, state) => {
      requireSupport("locks", state);
      return { data: await findLock(id, state) };
    },
  }),
];
