import { lists } from "../questions/lists.js";
import { undisturbed } from "../load/statistics.js";
import { putLoad } from "../load/load.js";
import type { Row } from "../table/row.js";
import type { DepthFigures } from "../questions/depth.js";
import type { Measure, Run } from "./measure.js";
import { openPortico, type PorticoServer } from "./servers.js";

const pageSize = 100;
const goal = { atMost: 2 };

interface Depth {
  first: number;
  slowest: number;
  total: number;
}

const slowestOf = ({ total, pages }: DepthFigures): Depth => ({
  total,
  first: pages[0]?.spent ?? NaN,
  slowest: Math.max(...pages.map(({ spent }) => spent)),
});

/** Every order of every list, within the process that serves: the worst order of each list has a line. */
const measureInside = async (portico: PorticoServer, run: Run): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const { name, orders } of lists) {
    run.say(`depth: ${name}`);
    const depths: (Depth & { by: string })[] = [];
    // In quick runs only the default order, both ways: of a short list, the first page in other orders costs next to nothing.
    for (const [order, { field, direction }] of (run.quick ? orders.slice(0, 2) : orders).entries()) {
      const figures = await portico.process.ask("depth", { list: name, order, limit: pageSize, rounds: run.quick ? 17 : 25 });
      if (figures.total > 2 * pageSize) depths.push({ ...slowestOf(figures), by: `${field}:${direction}` });
    }
    const worst = depths.sort((a, b) => b.slowest / b.first - a.slowest / a.first)[0];
    if (worst === undefined) continue;
    rows.push({
      group: "depth",
      what: `${name}, slowest page of 100 in the worst of ${depths.length} orders`,
      figure: worst.slowest,
      unit: "µs",
      against: "its first page",
      peer: worst.first,
      ratio: worst.slowest / worst.first,
      goal,
      note: `${worst.by}, ${worst.total.toLocaleString("en")} rows`,
    });
  }
  return rows;
};

/** Different pages around a place in the list: 0 is its beginning, 1 its end. */
const pagesAround = (path: string, pages: number, part: number, count: number): string[] =>
  Array.from({ length: Math.min(count, pages) }, (_, index) => {
    const shift = part < 0.5 ? index : part > 0.5 ? -index : index - Math.floor(count / 2);
    const page = Math.min(pages, Math.max(1, 1 + Math.round(part * (pages - 1)) + shift));
    return `${path}?page=${page}&limit=${pageSize}`;
  });

/** The default order as a client sees it, one request at a time. */
const measureOutside = async (portico: PorticoServer, run: Run): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const { name, path } of lists) {
    const { total } = await portico.process.ask("depth", { list: name, order: 0, limit: pageSize, rounds: 1 });
    // The last page, which is not full, is left out.
    const pages = Math.floor(total / pageSize);
    if (pages < 3) continue;
    const latencies: [first: number[], middle: number[], last: number[]] = [[], [], []];
    const count = Math.min(5, Math.floor(pages / 3));
    for (let round = 0; round < run.rounds * 5; round++) {
      for (const [index, part] of [0, 0.5, 1].entries()) {
        const load = await putLoad({ port: portico.port, connections: 1, requests: pagesAround(path, pages, part, count) });
        latencies[index]?.push(...load.latencies);
      }
    }
    const [first = NaN, ...others] = latencies.map((all) => undisturbed(all) * 1_000);
    const slowest = Math.max(...others);
    rows.push({
      group: "depth",
      what: `${name} over HTTP, slower of middle and last page`,
      figure: slowest,
      unit: "µs",
      against: "its first page",
      peer: first,
      ratio: slowest / first,
      goal,
    });
  }
  return rows;
};

/** Pages from the first to the last. Replies are not cached; the store is in memory, so that no page waits for the disk. */
export const measureDepth: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name, cacheSize: 0 });
  run.say("depth: reading the store into memory");
  await portico.process.ask("touch", run.size.name);
  const rows = [...(await measureInside(portico, run)), ...(await measureOutside(portico, run))];
  await portico.close();
  return rows;
};
