import { availableParallelism } from "node:os";
import { putLoad } from "../load/load.js";
import { median } from "../load/statistics.js";
import { openExampleHost } from "../processes/example-host.js";
import type { Measure } from "./measure.js";

const connections = 32;
/** Slices until both workers, each of which gets half of the requests, have compiled their code. */
const warmUp = 6;
/** Replies to a POST are not cached, and each of these is short but takes looking at rows: so the load leaves the cores to the workers. */
const requests = [{ path: "/api/transactions/search?limit=10", body: JSON.stringify({ type: 0, amount: { from: 1 } }) }];

/** The example host with two workers against one, on its own small chain. */
export const measureWorkers: Measure = async (run) => {
  const hosts = await Promise.all([openExampleHost("--workers", "1"), openExampleHost("--workers", "2")]);
  const rates: [one: number[], two: number[]] = [[], []];
  try {
    for (let round = 0; round <= run.rounds; round++) {
      run.say(`workers: ${round} of ${run.rounds}`);
      for (const [index, { port }] of hosts.entries()) {
        const { perSecond } = await putLoad({ port, connections, requests, duration: round === 0 ? warmUp * run.slice : run.slice });
        // The first round only warms up.
        if (round === 0) continue;
        rates[index]?.push(perSecond);
      }
    }
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
  }
  const [one, two] = [median(rates[0]), median(rates[1])];
  return [
    {
      group: "more cores",
      what: "searches by type and amount, two workers of the example host",
      figure: two,
      unit: "req/s",
      against: "one worker",
      peer: one,
      ratio: two / one,
      goal: { atLeast: 1.6 },
      note: `${availableParallelism()} cores, of which the load takes one`,
    },
  ];
};
