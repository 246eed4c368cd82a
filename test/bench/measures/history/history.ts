import type { Measure } from "../measure.js";
import { openPortico } from "../servers.js";
import { measurePastReads } from "./reads.js";
import { measureStatement } from "./statement.js";
import { measureWalk } from "./walk.js";
import { measureWriting } from "./writing.js";

/** What earlier states cost: to write and keep, to ask for one by one, in statements, and in walks. */
export const measureHistory: Measure = async (run) => {
  const rows = await measureWriting(run);
  // With a cache, the delegates at the tip would be computed once.
  const portico = await openPortico({ size: run.size.name, cacheSize: 0 });
  try {
    run.say("history: reading the store into memory");
    await portico.process.ask("touch", run.size.name);
    rows.push(...(await measurePastReads(portico, run)), ...(await measureStatement(portico, run)), await measureWalk(portico, run));
  } finally {
    await portico.close();
  }
  return rows;
};
