import { fullBlock } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import { openProcess } from "../processes/asking.js";
import type { IndexingHandlers } from "../processes/indexing.js";
import type { Row } from "../table/row.js";
import type { Measure } from "./measure.js";

/** Blocks of a host come one by one, each a write of its own; what was missed is read in larger pieces. */
const cases = [
  { what: `blocks of ${fullBlock} transactions, one a write`, transactions: fullBlock, together: 1, writes: 30 },
  { what: `blocks of ${fullBlock} transactions, five a write`, transactions: fullBlock, together: 5, writes: 6 },
  { what: "empty blocks, one a write", transactions: 0, together: 1, writes: 100 },
  { what: "empty blocks, fifty a write", transactions: 0, together: 50, writes: 6 },
];

/**
 * Blocks through the store, against the same puts and removals, byte for byte, replayed by lmdb-js in as many write transactions on the
 * same store.
 */
export const measureIndexing: Measure = async (run) => {
  const process = openProcess<IndexingHandlers>("./indexing.ts");
  const rows: Row[] = [];
  for (const { what, ...input } of run.quick ? cases.filter(({ together }) => together === 1) : cases) {
    run.say(`indexing: ${what}`);
    const { store, limit, blocks, operations, bytes } = await process.ask("measure", { size: run.size.name, rounds: run.rounds, ...input });
    const [own, bare] = [median(store), median(limit)];
    rows.push({
      group: "indexing",
      what,
      figure: blocks / own,
      unit: "blocks/s",
      against: "lmdb-js, the same puts",
      peer: blocks / bare,
      ratio: bare / own,
      goal: { atLeast: 0.5 },
      note: `${Math.round(operations / blocks)} puts and ${Math.round(bytes / blocks / 1_024)} KiB a block`,
    });
  }
  await process.close();
  return rows;
};
