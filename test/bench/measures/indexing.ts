import { fullBlock } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import type { Measure } from "../measure.js";
import { openProcess } from "../processes/asking.js";
import type { IndexingHandlers, Spent } from "../processes/indexing.js";
import type { Row } from "../table.js";

/** A host's blocks come one by one, each a write of its own; blocks that were missed are written several at a time. */
const cases = [
  { what: `blocks of ${fullBlock} transactions, one a write`, transactions: fullBlock, together: 1, writes: 30 },
  { what: `blocks of ${fullBlock} transactions, five a write`, transactions: fullBlock, together: 5, writes: 6 },
  { what: "empty blocks, one a write", transactions: 0, together: 1, writes: 400 },
  { what: "empty blocks, fifty a write", transactions: 0, together: 50, writes: 16 },
];

/**
 * Writing blocks through the store, against replaying the same puts and removals, byte for byte, with lmdb-js alone in as many write
 * transactions on the same store.
 */
export const measureIndexing: Measure = async (run) => {
  const process = openProcess<IndexingHandlers>("indexing");
  const rows: Row[] = [];
  for (const { what, ...input } of run.quick ? cases.filter(({ together }) => together === 1) : cases) {
    run.say(`indexing: ${what}`);
    const { store, limit, blocks, operations, bytes } = await process.ask("measure", { size: run.size.name, rounds: run.rounds, ...input });
    const of = (spent: readonly Spent[], member: keyof Spent): number => median(spent.map((one) => one[member]));
    const [own, bare] = [of(store, "whole"), of(limit, "whole")];
    const working = of(limit, "working") / of(store, "working");
    rows.push({
      group: "indexing",
      what,
      figure: blocks / own,
      unit: "blocks/s",
      against: "lmdb-js, the same puts",
      peer: blocks / bare,
      // On a machine that others use, the speed of the disk says nothing.
      ratio: run.quick ? working : bare / own,
      goal: { atLeast: 0.5 },
      note: `${Math.round(operations / blocks)} puts and ${Math.round(bytes / blocks / 1_024)} KiB a block; by processor time ${working.toFixed(2)}`,
    });
  }
  await process.close();
  return rows;
};
