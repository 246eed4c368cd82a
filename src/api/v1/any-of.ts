import type { Transaction } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Page, TransactionFilter, TransactionQuery } from "../../../types/chain-queries.js";
import { inputError } from "../../errors.js";
import type { PageRequest } from "../../http/route.js";
import { compareTransactions } from "../v2/transactions.js";

/**
 * Lists of transactions that pass any of several filters, built from lists that pass all of them, the only ones that an adapter
 * offers. The total is exact, by inclusion and exclusion: |A or B| = |A| + |B| - |A and B|, and so on.
 */

type Order = TransactionQuery["order"];

/** Each further filter doubles the number of queries. */
const mostFilters = 5;
/** Largest distance of a page from the nearer end of the list, in rows; each filter's rows are read from there to the page. */
export const deepest = 10_000;

const anyOrder: Order = { field: "timestamp", direction: "desc" };

const totalOf = async (filter: TransactionFilter, chain: ChainSnapshot): Promise<number> =>
  (await chain.transactions({ filter, order: anyOrder, offset: 0, limit: 1 })).total;

/**
 * The sum over all subsets of filters, odd ones added and even ones subtracted. If nothing passes a subset, nothing passes a larger
 * one either, so those are skipped.
 */
const countAny = async (filters: readonly TransactionFilter[], chain: ChainSnapshot, chosen: TransactionFilter = {}, sign = 1): Promise<number> => {
  let sum = 0;
  for (const [index, filter] of filters.entries()) {
    const all = { ...chosen, ...filter };
    const total = await totalOf(all, chain);
    if (total > 0) sum += sign * total + (await countAny(filters.slice(index + 1), chain, all, -sign));
  }
  return sum;
};

const reversed = ({ field, direction }: Order): Order => ({ field, direction: direction === "asc" ? "desc" : "asc" });

const rowsFrom = async (filters: readonly TransactionFilter[], order: Order, { offset, limit }: PageRequest, chain: ChainSnapshot): Promise<Transaction[]> => {
  const rows = new Map<string, Transaction>();
  for (const filter of filters) {
    const first = await chain.transactions({ filter, order, offset: 0, limit: offset + limit });
    for (const row of first.rows) rows.set(row.id, row);
  }
  return [...rows.values()].sort(compareTransactions(order)).slice(offset, offset + limit);
};

/** @throws PorticoError BAD_REQUEST for a page so far from both ends that it would cost too much. */
const rowsOfAny = async (
  filters: readonly TransactionFilter[],
  { order, page, total }: { order: Order; page: PageRequest; total: number },
  chain: ChainSnapshot,
): Promise<Transaction[]> => {
  const { offset } = page;
  const limit = Math.max(0, Math.min(page.limit, total - offset));
  if (limit === 0) return [];
  const after = total - offset - limit;
  if (Math.min(offset, after) > deepest) {
    throw inputError("query", "offset", `must be within ${deepest} of either end of the list when several filters are given`);
  }
  if (offset <= after) return rowsFrom(filters, order, { offset, limit }, chain);
  return (await rowsFrom(filters, reversed(order), { offset: after, limit }, chain)).reverse();
};

/**
 * One page of the transactions that pass any of the filters, or of all transactions if there is no filter.
 * @throws PorticoError BAD_REQUEST for more than `mostFilters`, and for a page of several filters deeper than `deepest`
 */
export const transactionsOfAny = async (
  filters: readonly TransactionFilter[],
  { order, page }: { order: Order; page: PageRequest },
  chain: ChainSnapshot,
): Promise<Page<Transaction>> => {
  const [only] = filters;
  if (filters.length <= 1) return chain.transactions({ filter: only ?? {}, order, ...page });
  if (filters.length > mostFilters) throw inputError("query", "value", `must not have more than ${mostFilters} filters`);
  const total = await countAny(filters, chain);
  return { rows: await rowsOfAny(filters, { order, page, total }, chain), total };
};
