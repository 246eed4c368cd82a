import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { spread } from "../fixtures/long.js";
import { exactJson, type Interface, parsed } from "./interface.js";

/**
 * Compares lists with a computation that is easy to follow: all rows, filtered one by one, sorted and sliced.
 * `ListQuery` in types/chain-queries.ts defines the order of ties.
 */

export type Value = bigint | number | string | null;

/** A filter as a search body has it, and which rows pass it. */
export interface Filter<Row> {
  body: Record<string, unknown>;
  passes(row: Row): boolean;
}

/** What rows of one resource have in common, whatever list they are in. */
export interface Kind<Row> {
  /** Filters for each member that searches accept, several for some of them. They are built from existing rows. */
  filters(rows: Row[]): Filter<Row>[];
  /** Values by the name of the order. Null means no value. */
  orders: Record<string, (row: Row) => Value>;
  defaultOrder: string;
  /** Which of two rows with equal values comes first when the order is `desc`. */
  tie(a: Row, b: Row): number;
  /** Orders rows without a value, and names rows in messages. */
  key(row: Row): string;
  /** The whole item in a reply. */
  present(row: Row): unknown;
}

/** One list of the interface. */
export interface List<Row> {
  path: string;
  /** The path of the POST that searches the same rows. */
  search?: string;
  /** All its rows, in any order. */
  rows: Row[];
  /** Members that it has no filter for. */
  without?: string[];
}

const compare = (a: Value, b: Value): number => (a === b ? 0 : (a as string) < (b as string) ? -1 : 1);

export const sorted = <Row>(rows: Row[], order: string, kind: Kind<Row>): Row[] => {
  const [field = "", direction = "asc"] = order.split(":");
  const value = kind.orders[field];
  if (value === undefined) throw new Error(`no order ${field}`);
  const present = rows.filter((row) => value(row) !== null).sort((a, b) => compare(value(b), value(a)) || kind.tie(a, b));
  const absent = rows.filter((row) => value(row) === null).sort((a, b) => compare(kind.key(a), kind.key(b)));
  return [...(direction === "desc" ? present : present.reverse()), ...absent];
};

const flat = (value: unknown, path: string): [string, string][] => {
  if (Array.isArray(value)) return [[path, value.join(",")]];
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([key, member]) => flat(member, path === "" ? key : `${path}.${key}`));
};

export const queryOf = (body: Record<string, unknown>): string =>
  flat(body, "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");

interface Page {
  meta: { count: number; totalCount: number; next: string | null };
  data: unknown[];
}

const page = ({ status, body }: { status: number; body: unknown }, what: string): Page => {
  expect(status, `${what}: ${exactJson(body)}`).to.equal(200);
  return body as Page;
};

const limit = 100;
/** How many rows are compared for each pair of filters, of which there are thousands. The totals cover the others. */
const fewer = 10;
/**
 * How many of the combinations are asked for in the short form: that a combination gives the right rows is what the conformance suite
 * shows of the store (each pair, each filter in each order) and the random chains (any three); here it is that they reach it.
 */
const combinations = 12;
/** How many pages of each order. */
const pagesOfOrder = 3;

const pairsOf = <T>(items: T[]): [T, T][] => items.flatMap((a, index) => items.slice(index + 1).map((b): [T, T] => [a, b]));

const sharesMember = (a: object, b: object): boolean => Object.keys(a).some((key) => key in b);

/** As `deep.equal`, which takes several times as long where nothing is wrong. */
const expectSame = (found: unknown, expected: unknown, what: string): void => {
  if (!isDeepStrictEqual(found, expected)) expect(found, what).to.deep.equal(expected);
};

/** Asks a list in every way, and expects what a naive computation gives. */
export const createListChecks = <Row>(list: List<Row>, kind: Kind<Row>, interface_: () => Interface) => {
  const filters = (): Filter<Row>[] => kind.filters(list.rows).filter(({ body }) => !Object.keys(body).some((key) => list.without?.includes(key)));

  const ask = async ({ body, passes }: Filter<Row>, { order, rows = limit }: { order?: string; rows?: number } = {}): Promise<void> => {
    const expected = sorted(list.rows.filter(passes), order ?? kind.defaultOrder, kind);
    const shown = parsed(expected.slice(0, rows).map(kind.present));
    const holds = ({ meta, data }: Page, what: string): void => {
      expect(meta.totalCount, what).to.equal(expected.length);
      expectSame(data, shown, what);
    };
    const ordered = `limit=${rows}${order === undefined ? "" : `&orderBy=${order}`}`;
    const path = `${list.path}?${[ordered, queryOf(body)].filter((part) => part !== "").join("&")}`;
    holds(page(await interface_().get(path), path), path);
    if (list.search === undefined) return;
    const search = `${list.search}?${ordered}`;
    const searched = `POST ${search} ${exactJson(body)}`;
    holds(page(await interface_().post(search, body), searched), searched);
  };

  return {
    /** Follows the links from page to page. */
    walk: async (): Promise<void> => {
      const seen: unknown[] = [];
      for (let next: string | null = `/api/v2${list.path}`; next !== null; ) {
        const { meta, data } = page(await interface_().get(next.replace(/^\/api/, "")), next);
        expect(meta.totalCount, next).to.equal(list.rows.length);
        seen.push(...data);
        next = meta.next;
      }
      expectSame(seen, parsed(sorted(list.rows, kind.defaultOrder, kind).map(kind.present)), list.path);
    },
    eachFilter: async (): Promise<void> => {
      for (const filter of filters()) await ask(filter);
    },
    filterPairs: async (): Promise<void> => {
      const pairs = pairsOf(filters()).filter(([a, b]) => !sharesMember(a.body, b.body));
      for (const [a, b] of spread(pairs, combinations)) {
        await ask({ body: { ...a.body, ...b.body }, passes: (row) => a.passes(row) && b.passes(row) }, { rows: fewer });
      }
    },
    eachOrder: async (): Promise<void> => {
      const all: Filter<Row> = { body: {}, passes: () => true };
      for (const field of Object.keys(kind.orders)) {
        for (const direction of ["asc", "desc"]) await ask(all, { order: `${field}:${direction}` });
      }
    },
    filtersInOrders: async (): Promise<void> => {
      const all = Object.keys(kind.orders).flatMap((field) => filters().map((filter) => ({ field, filter })));
      for (const { field, filter } of spread(all, combinations)) await ask(filter, { order: `${field}:desc`, rows: fewer });
    },
    /** With many ties in an order, every row still occurs exactly once. */
    walkEachOrder: async (): Promise<void> => {
      for (const field of Object.keys(kind.orders)) {
        const expected = sorted(list.rows, `${field}:desc`, kind).map(kind.present);
        const offsets = Array.from({ length: Math.ceil(expected.length / limit) }, (_, index) => index * limit);
        for (const offset of spread(offsets, pagesOfOrder)) {
          const what = `${list.path}?orderBy=${field}:desc&page=${offset / limit + 1}`;
          const { data } = page(await interface_().get(what), what);
          expectSame(data, parsed(expected.slice(offset, offset + limit)), what);
        }
      }
    },
    /** A bare field means ascending order; snake_case names and directions in capitals are equivalent. */
    orderSpellings: async (): Promise<void> => {
      for (const field of Object.keys(kind.orders)) {
        const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        const [bare, snaked, shouted] = await Promise.all(
          [field, `${snake}:asc`, `${field}:ASC`].map(async (order) => page(await interface_().get(`${list.path}?orderBy=${order}&limit=7`), order)),
        );
        const expected = parsed(sorted(list.rows, `${field}:asc`, kind).slice(0, 7).map(kind.present));
        for (const { data } of [bare, snaked, shouted] as Page[]) expect(data, field).to.deep.equal(expected);
      }
    },
  };
};

/**
 * The same as Mocha tests. Without `pairs`, filters are only tested singly: for lists that narrow another one, on a chain with few
 * of their rows.
 */
export const describeList = <Row>(title: string, list: () => List<Row>, kind: Kind<Row>, interface_: () => Interface, { pairs = true } = {}): void => {
  describe(title, () => {
    const checks = () => createListChecks(list(), kind, interface_);
    it("returns each row once, whole, across its pages", () => checks().walk());
    it("applies each filter", () => checks().eachFilter());
    it("applies each order", () => checks().eachOrder());
    it("accepts each order in each spelling", () => checks().orderSpellings());
    if (!pairs) return;
    it("applies pairs of filters", () => checks().filterPairs());
    it("applies filters in each order", () => checks().filtersInOrders());
    it("returns each page as sorting by each order gives it", () => checks().walkEachOrder());
  });
};
