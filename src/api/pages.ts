import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Page } from "../../types/chain-queries.js";
import { currentMeter, loopShare, metered } from "../async/loop-share.js";

/** Rows read at a time: as many as are answered in one step. */
export const pageRows = 100;

/** Asks for one page of a list. */
export type AskPage<Row> = (offset: number, limit: number) => MaybePromise<Page<Row>>;

/** Every row of a list from a place on, until one that is `beyond` what is wanted. */
export const everyRow = async <Row,>(
  ask: AskPage<Row>,
  { from = 0, beyond = () => false }: { from?: number; beyond?: (row: Row) => boolean } = {},
): Promise<Row[]> => {
  const rows: Row[] = [];
  for (;;) {
    const page = await ask(from + rows.length, pageRows);
    const end = page.rows.findIndex(beyond);
    rows.push(...(end === -1 ? page.rows : page.rows.slice(0, end)));
    if (end !== -1 || page.rows.length === 0 || from + rows.length >= page.total) return rows;
  }
};

/** Asks for pages in what is left of a round of the event loop; the time counts for the client that has asked. */
export const createPaced = (share = loopShare) => {
  const meter = currentMeter();
  return <Row>(ask: AskPage<Row>): AskPage<Row> =>
    (offset, limit) =>
      share.run(() => metered(meter, () => ask(offset, limit)));
};

export type Paced = ReturnType<typeof createPaced>;

/** How many transactions of a list by ascending height are below a height. */
export const rowsBelow = async (height: number, ask: AskPage<{ blockHeight: number }>): Promise<number> => {
  if (height <= 1) return 0;
  let [low, high] = [0, (await ask(0, 1)).total];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [row] = (await ask(middle, 1)).rows;
    if (row === undefined || row.blockHeight >= height) high = middle;
    else low = middle + 1;
  }
  return low;
};
