import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { askOnce } from "./asking.js";

export const ownedBy = (chain: ChainAdapter, addresses: readonly string[]): Promise<number[]> =>
  askOnce(chain, async (snapshot) => {
    const totals: number[] = [];
    for (const ownerId of addresses) {
      const page = await snapshot.transactions({ filter: { ownerId }, order: { field: "timestamp", direction: "desc" }, offset: 0, limit: 1 });
      totals.push(page.total);
    }
    return totals;
  });
