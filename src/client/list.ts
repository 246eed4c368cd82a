import type { Meta } from "./schemas.js";
import { pause, PorticoClientError, type Walk } from "./transport.js";

/** Lists: awaited for one page, or walked for all rows. */

export interface Page<Row> {
  data: Row[];
  meta: Meta;
}

/**
 * A list. Awaited, it is one page. Walked (`for await`), it is every row, from the page that was asked for on: pinned to the block that is
 * the tip when the walk begins, where the route takes `at`, so that each row comes once whatever blocks come or go meanwhile.
 */
export interface List<Row> extends PromiseLike<Page<Row>>, AsyncIterable<Row> {
  pages(): AsyncIterable<Page<Row>>;
}

export interface ListQuery {
  page?: number;
  offset?: number;
  limit?: number;
  at?: unknown;
}

export interface PageReply<Row> {
  page: Page<Row>;
  /** Whether the state that it is of stays for ever. */
  isLasting: boolean;
}

export interface ListNeeds<Row> {
  query: ListQuery;
  takesAt: boolean;
  ask(query: ListQuery, walk?: Walk, signal?: AbortSignal): Promise<PageReply<Row>>;
  /** Id of the tip's block, at the node that the walk stays with. */
  tip(walk: Walk): Promise<string>;
}

/** States that a node does not keep, or cannot list like this: the walk goes on without. */
const unpinnable = new Set(["NOT_AT_HEIGHT", "NOT_SUPPORTED", "HISTORY_MISSING"]);
/** How often in a row a walk is begun anew without a row that it did not have. */
const mostForks = 20;
const fewTries = 3;

const codeOf = (error: unknown): string | undefined => (error instanceof PorticoClientError ? error.code : undefined);

/** What a row is known by in a list. */
const identityOf = (row: object): unknown => {
  const { id, address, blockId } = row as { id?: unknown; address?: unknown; blockId?: unknown };
  return id ?? address ?? blockId;
};

const pageAfter = ({ page = 1, offset, limit = 100, ...query }: ListQuery & { page?: number }, isFirst: boolean): ListQuery => {
  if (isFirst) return { ...query, ...(offset === undefined ? { page } : { offset }), limit };
  return offset === undefined ? { ...query, page: page + 1, limit } : { ...query, offset: offset + limit, limit };
};

/** Pages of a walk, each asked for while the one before is dealt with. */
async function* pagesOf<Row extends object>({ query, takesAt, ask, tip }: ListNeeds<Row>): AsyncGenerator<Page<Row>, void> {
  const [leaving, walk] = [new AbortController(), { isPinned: false } as Walk];
  const start = query.page !== undefined && query.offset !== undefined ? { ...query, offset: undefined } : query;
  /** What was given of a state that may still be reverted: after that the walk begins anew, without these. */
  let given: Set<unknown> | undefined;
  let [pin, at, forks] = [takesAt && query.at === undefined, query.at, 0];
  const load = (of: ListQuery): Promise<PageReply<Row>> => {
    const loading = ask({ ...of, ...(at === undefined ? {} : { at }) }, walk, leaving.signal);
    // It is looked at later, or never.
    loading.catch(() => undefined);
    return loading;
  };
  const begin = async (): Promise<ListQuery> => {
    if (pin) at = await tip(walk);
    walk.isPinned = pin;
    return pageAfter(start as ListQuery, true);
  };

  try {
    let place = await begin();
    let next = load(place);
    for (;;) {
      let reply: PageReply<Row>;
      try {
        reply = await next;
      } catch (error) {
        const [code, before] = [codeOf(error), at];
        if (!pin || !(code === "BLOCK_NOT_FOUND" || unpinnable.has(code ?? "")) || forks++ > mostForks) throw error;
        if (code !== "BLOCK_NOT_FOUND") [pin, at] = [false, undefined];
        place = await begin();
        // The block is there: it is another that is missing, or a node behind one URL that is not as far as others.
        if (at !== undefined && at === before) {
          if (forks > fewTries) throw error;
          await pause(100 * forks, undefined);
        }
        next = load(place);
        continue;
      }
      const isEnd = reply.page.meta.next === null;
      if (!isEnd) {
        place = pageAfter(place, false);
        next = load(place);
      }
      const fresh = given === undefined ? reply.page.data : reply.page.data.filter((row) => !given?.has(identityOf(row)));
      if (fresh.length > 0 || given === undefined) {
        forks = 0;
        yield { ...reply.page, data: fresh };
      }
      if (isEnd) return;
      if (pin && !reply.isLasting) for (const row of fresh) (given ??= new Set()).add(identityOf(row));
    }
  } finally {
    leaving.abort();
  }
}

export const createList = <Row extends object>(needs: ListNeeds<Row>): List<Row> => ({
  then: (fulfilled, rejected) => needs.ask(needs.query).then(({ page }) => page).then(fulfilled, rejected),
  pages: () => pagesOf(needs),
  async *[Symbol.asyncIterator]() {
    for await (const { data } of pagesOf(needs)) yield* data;
  },
});
