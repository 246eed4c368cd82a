import { blocksBeyond } from "../chain/chain.js";
import { fullBlock } from "../chain/sizes.js";
import { putLoad } from "../load/load.js";
import { median, quantile } from "../load/statistics.js";
import type { Measure, Run } from "../measure.js";
import type { Row } from "../table.js";
import { hotPaths } from "./hot.js";
import { openPortico, type PorticoServer } from "./servers.js";

const connections = 32;
/** Requests a second, from clients that do not wait for each other. */
const rate = 1_000;
/** Seconds, and blocks, of one turn. */
const seconds = 8;
/** Blocks before that, and milliseconds from one to the next: a real node has run for hours, so its code is compiled. */
const warmUp = { blocks: 16, interval: 250 };

interface Turn {
  /** Milliseconds. */
  idle: number[];
  importing: number[];
  blocks: number[];
}

/** The 99th percentile with the chain at rest, and with a block a second, in turn. */
const measureTurns = async (portico: PorticoServer, run: Run, asFastAsItGoes: boolean): Promise<Turn> => {
  const beyond = blocksBeyond(run.size);
  const requests = Object.values(hotPaths);
  const p99 = async (): Promise<number> => {
    const load = { port: portico.port, connections, requests, duration: seconds * 1_000 };
    return quantile((await putLoad(asFastAsItGoes ? load : { ...load, rate })).latencies, 0.99);
  };
  const turn: Turn = { idle: [], importing: [], blocks: [] };
  await portico.process.ask("hold", beyond(warmUp.blocks));
  const warming = { port: portico.port, connections, requests, rate, duration: warmUp.blocks * warmUp.interval };
  await Promise.all([putLoad(warming), portico.process.ask("forge", warmUp)]);
  for (let round = 0; round < Math.min(3, run.rounds); round++) {
    turn.idle.push(await p99());
    await portico.process.ask("hold", beyond(seconds));
    const [busy, forged] = await Promise.all([p99(), portico.process.ask("forge", { blocks: seconds, interval: 1_000 })]);
    turn.importing.push(busy);
    turn.blocks.push(...forged.map(({ spent }) => spent));
  }
  await portico.process.ask("takeOut", undefined);
  return turn;
};

/** Hot reads while the same process applies a full block every second. */
export const measureImporting: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name });
  await portico.process.ask("touch", run.size.name);
  const rows: Row[] = [];
  for (const [what, asFastAsItGoes] of [
    [`${rate.toLocaleString("en")} requests a second`, false],
    [`${connections} connections as fast as they go`, true],
  ] as const) {
    run.say(`importing: ${what}`);
    const turn = await measureTurns(portico, run, asFastAsItGoes);
    const [idle, importing] = [median(turn.idle), median(turn.importing)];
    rows.push({
      group: "importing",
      what: `p99 of hot reads while blocks of ${fullBlock} are applied, ${what}`,
      figure: importing,
      unit: "ms",
      against: "idle",
      peer: idle,
      ratio: importing / idle,
      goal: { atMost: 3 },
      note: `a block takes ${median(turn.blocks).toFixed(0)} ms`,
    });
  }
  await portico.close();
  return rows;
};
