import { putLoad } from "../load/load.js";
import { undisturbed } from "../load/statistics.js";
import type { Measure } from "../measure.js";
import type { Row } from "../table.js";
import { type List, lists } from "./lists.js";
import { jsonAt, openPortico } from "./servers.js";

const pageSize = 100;

/** Different pages around a place in the list: 0 is its beginning, 1 its end. */
const pagesAround = (path: string, pages: number, part: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const shift = part < 0.5 ? index : part > 0.5 ? -index : index - Math.floor(count / 2);
    return `${path}&page=${Math.min(pages, Math.max(1, 1 + Math.round(part * (pages - 1)) + shift))}`;
  });

/** One order of one list as a client sees it, one request at a time. Undefined where the list is short. */
const measureOrder = async (port: number, { name, path }: List, order: string, rounds: number): Promise<Row | undefined> => {
  const ordered = `${path}?orderBy=${order}&limit=${pageSize}`;
  const { meta } = await jsonAt<{ meta: { totalCount: number } }>(port, ordered);
  // The last page, which is not full, is left out.
  const pages = Math.floor(meta.totalCount / pageSize);
  if (pages < 3) return undefined;
  const latencies: [first: number[], middle: number[], last: number[]] = [[], [], []];
  for (let round = 0; round < rounds * 5; round++) {
    for (const [index, part] of [0, 0.5, 1].entries()) {
      const requests = pagesAround(ordered, pages, part, Math.min(5, Math.floor(pages / 3)));
      latencies[index]?.push(...(await putLoad({ port, connections: 1, requests })).latencies);
    }
  }
  const [first = NaN, ...others] = latencies.map((all) => undisturbed(all) * 1_000);
  const figure = Math.max(...others);
  const note = `${order}, ${meta.totalCount.toLocaleString("en")} rows`;
  return { group: "depth", what: name, figure, unit: "µs", against: "its first page", peer: first, ratio: figure / first, goal: { atMost: 2 }, note };
};

/** Pages from the first to the last. Replies are not cached; the store is in memory, so that no page waits for the disk. */
export const measureDepth: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name, options: { cacheSize: 0 } });
  await portico.process.ask("touch", run.size.name);
  const rows: Row[] = [];
  for (const list of lists) {
    run.say(`depth: ${list.name}`);
    const found: Row[] = [];
    // In quick runs only the default order, both ways: of a short list, the first page in other orders costs next to nothing.
    for (const order of run.quick ? list.orders.slice(0, 2) : list.orders) {
      const row = await measureOrder(portico.port, list, order, run.rounds);
      if (row !== undefined) found.push(row);
    }
    const [worst] = found.sort((one, other) => other.ratio - one.ratio);
    if (worst !== undefined) rows.push({ ...worst, what: `${list.name}, slower of middle and last page over HTTP, the worst of ${found.length} orders` });
  }
  await portico.close();
  return rows;
};
