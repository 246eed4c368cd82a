import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { undisturbed } from "../load/statistics.js";
import { timeOnce } from "./asking.js";
import { listNamed } from "./lists.js";

export interface DepthInput {
  list: string;
  /** Index of the order among the list's. */
  order: number;
  limit: number;
  /** Times that each page is asked for. */
  rounds: number;
}

export interface DepthFigures {
  total: number;
  /** Places in the list, from 0 to 1, and microseconds that a page there takes. The first is the first page. */
  pages: { part: number; spent: number }[];
}

/** The first page, the last, and some between. */
const parts = [0, 0.03, 0.25, 0.5, 0.75, 0.97, 1];

/** How long pages take, from the first to the last. No page is asked for twice, if there are enough. */
export const measureDepth = async (chain: ChainAdapter, { list, order, limit, rounds }: DepthInput): Promise<DepthFigures> => {
  const { orders, ask, name } = listNamed(list);
  const by = orders[order];
  if (by === undefined) throw new Error(`${name} has no order ${order}`);
  const { answer } = await timeOnce(chain, (snapshot) => ask(snapshot, by, 0, limit));
  if (answer === undefined) throw new Error(`the first page of ${name} is refused`);
  const last = Math.max(0, answer.total - limit);
  const spentAt = parts.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, part] of parts.entries()) {
      // A full page, some rows further each time, from either end.
      const shift = Math.min(last, round * 7);
      const offset = Math.min(last, Math.max(0, Math.round(last * part) + (part > 0.5 ? -shift : shift)));
      const page = await timeOnce(chain, (snapshot) => ask(snapshot, by, offset, limit));
      // A page that is refused counts as taking forever.
      spentAt[index]?.push(page.answer === undefined ? Infinity : page.spent);
    }
  }
  return { total: answer.total, pages: parts.map((part, index) => ({ part, spent: undisturbed(spentAt[index] ?? []) })) };
};
