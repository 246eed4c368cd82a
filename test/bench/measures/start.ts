import { median } from "../load/statistics.js";
import type { Measure } from "../measure.js";
import { limited } from "../table.js";
import { hotPaths } from "./hot.js";
import { bodyAt, openPortico } from "./servers.js";

/** How long it takes to open the store and answer: by Portico alone, and with the start of the whole process. */
export const measureStart: Measure = async (run) => {
  const [own, whole]: [number[], number[]] = [[], []];
  for (let round = 0; round < run.rounds; round++) {
    run.say(`start: ${round + 1} of ${run.rounds}`);
    const begun = performance.now();
    const portico = await openPortico({ size: run.size.name });
    const listening = performance.now();
    await bodyAt(portico.port, hotPaths["wallets/top"] ?? "");
    const answered = performance.now();
    own.push((portico.opening + answered - listening) / 1_000);
    whole.push((answered - begun) / 1_000);
    await portico.close();
  }
  const note = `${median(whole).toFixed(1)} s with the start of Node.js and the loading of modules`;
  return [limited({ group: "start", what: "from createApiPlugin to the first reply, wallets/top, in a new process", figure: median(own), unit: "s", note }, 2)];
};
