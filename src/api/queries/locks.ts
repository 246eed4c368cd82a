import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { LockFilter, LockQuery } from "../../../types/chain-queries.js";
import { lockList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { type LockResource, presentLock } from "../resources/lock.js";
import type { ApiState } from "../state.js";
import { inKnownCase, inputsOf } from "./fields.js";
import { type ListRequest, pageOf } from "./page.js";

const { filters, orders } = lockList;
const order = { default: "timestamp:desc" };

export const LockListQuery = Type.Object({ ...inputsOf(filters, { exact: true }), orderBy: OrderBy(orders, order) });
export const LockSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const LockSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

type PresentedLock = Static<typeof LockResource>;

export const listLocks = (request: ListRequest<LockFilter, LockQuery["order"]>, { chain, rules }: ApiState): MaybePromise<PageAnswer<PresentedLock>> =>
  pageOf(request, (query) => chain.locks(query), (lock) => presentLock(lock, { tip: chain.tip, epoch: rules.epoch }));

/** An open lock. @throws PorticoError LOCK_NOT_FOUND */
export const findLock = async (id: string, { chain, rules }: ApiState): Promise<PresentedLock> => {
  const lock = await chain.lock(inKnownCase(id));
  if (lock === undefined) throw new PorticoError("LOCK_NOT_FOUND");
  return presentLock(lock, { tip: chain.tip, epoch: rules.epoch });
};
