import { transactionsAt } from "../../chain/sizes.js";
import type { Row } from "../../table/row.js";
import { blocksBeyond } from "../blocks.js";
import type { Run } from "../measure.js";
import { bodyAt, type PorticoServer } from "../servers.js";

interface Page {
  meta: { next: string | null; totalCount: number };
  data: { id: string }[];
}

/** Blocks that come, and are reverted, while it walks. */
const coming = 20;

/** Every transaction as of a height, page by page, while blocks come and go above and below the tip that there was. */
export const measureWalk = async (portico: PorticoServer, run: Run): Promise<Row> => {
  run.say("history: a walk over all transactions at a height");
  const at = run.size.blocks - 10;
  const blocks = blocksBeyond(run.size)(coming);
  const seen = new Set<string>();
  let rows = 0;
  let total = 0;
  let walking = true;
  const walk = async (): Promise<void> => {
    for (let path: string | null = `/api/transactions?at=${at}&limit=100`; path !== null; ) {
      const { meta, data } = JSON.parse(Buffer.from(await bodyAt(portico.port, path)).toString()) as Page;
      for (const { id } of data) seen.add(id);
      rows += data.length;
      total = meta.totalCount;
      path = meta.next?.replace("/api/v2/", "/api/") ?? null;
    }
    walking = false;
  };
  const moving = async (): Promise<number> => {
    let moved = 0;
    while (walking) {
      await portico.process.ask("hold", blocks);
      await portico.process.ask("forge", { blocks: coming, interval: 50 });
      await portico.process.ask("takeOut", undefined);
      moved += coming;
    }
    return moved;
  };
  const [moved] = await Promise.all([moving(), walk()]);
  let above = 0;
  for (let height = at + 1; height <= run.size.blocks; height++) above += transactionsAt(height, run.size);
  const expected = run.size.transactions - above;
  const exact = rows === expected && seen.size === expected && total === expected;
  return {
    group: "history",
    what: "a walk over all transactions at a height, rows seen",
    figure: seen.size,
    unit: "rows",
    against: "there are",
    peer: expected,
    ratio: exact ? 1 : rows / expected,
    goal: { atLeast: 1 },
    note: `${rows - seen.size} twice; ${moved} blocks came and went meanwhile`,
  };
};
