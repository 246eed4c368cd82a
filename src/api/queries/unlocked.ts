import { type Static, Type } from "@sinclair/typebox";
import type { Transaction } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Order, TransactionOrder } from "../../../types/chain-queries.js";
import { htlcClaimKind, htlcRefundKind } from "../../chain/blocks/transaction-types.js";
import { lockEndedBy } from "../../chain/locks.js";
import { ListOf } from "../../http/input/schema.js";
import type { PageAnswer, PageRequest } from "../../http/route.js";
import type { TransactionResource } from "../resources/transactions/transaction.js";
import type { ApiState } from "../state.js";
import { Hash } from "./fields.js";
import { compareTransactions, presentTransactionOf } from "./transactions.js";

/** Locks, open or ended, given by the ids of their lock transactions. */
export const UnlockedBody = Type.Object({ ids: ListOf(Hash, { minItems: 1, maxItems: 25, description: "Ids of lock transactions." }) });

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
export const listUnlocked = async (
  { ids, orderBy, page: { offset, limit } }: { ids: string[]; orderBy: Order<TransactionOrder>; page: PageRequest },
  state: ApiState,
): Promise<PageAnswer<Static<typeof TransactionResource>>> => {
  const rows = (await endings(ids, state.chain)).sort(compareTransactions(orderBy));
  return { rows: rows.slice(offset, offset + limit).map((transaction) => presentTransactionOf(transaction, state)), total: rows.length };
};
