import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { DelegateOrder, Order, WalletOrder } from "../../../types/chain-queries.js";
import { rowOf, same, show } from "../comparing.js";
import type { FilterSpec, Surroundings } from "../filters.js";
import {
  askPage,
  blockSpec,
  delegateSpec,
  everyRow,
  expectFiltered,
  type ListSpec,
  lockSpec,
  mostRows,
  sameRows,
  sorted,
  transactionSpec,
  walk,
  walletSpec,
  withoutFigures,
} from "../lists.js";
import { type CaseDefinition, type Fixture, readingOf } from "../target.js";
import { actors } from "../chain/actors.js";

const surroundingsOf = async (snapshot: ChainSnapshot): Promise<Surroundings> => {
  const wallets = await everyRow(snapshot, walletSpec);
  return {
    height: snapshot.tip.height,
    timestamp: snapshot.tip.timestamp,
    secondPublicKeys: new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey])),
  };
};

/** At most three of a filter's samples: enough for testing pairs of filters. */
const three = (values: readonly unknown[]): unknown[] =>
  values.filter((_, index) => index === 0 || index === 1 || index === values.length - 1);

/** What a check of a list works on. */
interface ListSample<Row> {
  snapshot: ChainSnapshot;
  all: Row[];
  around: Surroundings;
}

/** A rule that every list obeys, whatever is in it. */
type Check = <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  given: ListSample<Row>,
) => Promise<void>;

const ordersOf = <Field extends string>({ fields }: { fields: readonly Field[] }): Order<Field>[] =>
  fields.flatMap((field): Order<Field>[] => [
    { field, direction: "asc" },
    { field, direction: "desc" },
  ]);

const eachOrder: Check = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  { snapshot, all }: ListSample<Row>,
) => {
  for (const order of ordersOf(spec)) {
    const expected = sorted(all, order, spec);
    for (const limit of [3, mostRows]) {
      const found = await walk(snapshot, spec, { filter: {} as Filter, order, limit });
      sameRows(spec, found, expected, `${spec.name} ${show({ order, limit })}`);
    }
  }
};

const anyOffset: Check = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  { snapshot, all }: ListSample<Row>,
) => {
  const expected = sorted(all, spec.usual, spec);
  for (let offset = 0; offset <= all.length + 1; offset += 1) {
    const limit = 1 + (offset % 3);
    const page = await askPage(snapshot, spec, { filter: {} as Filter, order: spec.usual, offset, limit });
    sameRows(spec, page.rows, expected.slice(offset, offset + limit), `${spec.name} ${show({ offset, limit })}`);
    same(page.total, all.length, `${spec.name} ${show({ offset, limit })}: total`);
  }
};

const eachFilter: Check = async (spec, { snapshot, all, around }) => {
  for (const filter of spec.filters) {
    for (const value of filter.samples(all, around)) await expectFiltered(snapshot, spec, all, around, [[filter, value]]);
  }
};

const eachPair: Check = async (spec, { snapshot, all, around }) => {
  const samples = spec.filters.map((filter) => [filter, three(filter.samples(all, around))] as const);
  const pairs = samples.flatMap(([a, values], index) =>
    samples.slice(index + 1).flatMap(([b, others]) =>
      values.flatMap((value) =>
        others.map(
          (other) =>
            [
              [a, value],
              [b, other],
            ] as const,
        ),
      ),
    ),
  );
  for (const pair of pairs) await expectFiltered(snapshot, spec, all, around, pair);
};

const allAtOnce: Check = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  { snapshot, all, around }: ListSample<Row>,
) => {
  for (const row of all) {
    const filters = spec.filters
      .map((filter): [FilterSpec<Row>, unknown] => [filter, filter.of(row, around)])
      .filter(([, value]) => value !== undefined);
    await expectFiltered(snapshot, spec, all, around, filters);
  }
};

const together: Check = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  { snapshot, all, around }: ListSample<Row>,
) => {
  for (const filter of spec.filters) {
    for (const value of three(filter.samples(all, around))) {
      const passing = all.filter((row) => filter.passes(row, value, around));
      for (const order of ordersOf(spec)) {
        const query = { filter: { [filter.name]: value } as Filter, order, limit: 3 };
        const found = await walk(snapshot, spec, query);
        same(found.map(spec.keyOf), sorted(passing, order, spec).map(spec.keyOf), `${spec.name} ${show(query)}`);
      }
    }
  }
};

const lookedUp: Check = async (spec, { snapshot, all }) => {
  for (const row of all) {
    const found = await spec.find(snapshot, row);
    same(rowOf(spec.kind, found), rowOf(spec.kind, row), `${spec.name}: the look-up of ${spec.keyOf(row)}`);
  }
};

const checks: [string, Check][] = [
  ["each order in both directions, page by page", eachOrder],
  ["any offset, with the same total everywhere", anyOffset],
  ["each filter alone", eachFilter],
  ["each pair of filters", eachPair],
  ["all filters of a row at once", allAtOnce],
  ["each filter in each order, page by page", together],
  ["rows are what look-ups give", lookedUp],
];

const casesOf = <Row extends object, Filter, Field extends string>(spec: ListSpec<Row, Filter, Field>): CaseDefinition[] =>
  checks.map(([name, check]) => ({
    name: `${spec.name}: ${name}`,
    run: async (fixture) => {
      if (spec.name === "locks") await fixture.needs("locks");
      const offered = spec.name === "delegates" && !(await fixture.offers("delegateFigures")) ? withoutFigures(spec) : spec;
      await fixture.reading(async (snapshot) =>
        check(offered, { snapshot, all: await everyRow(snapshot, spec), around: await surroundingsOf(snapshot) }),
      );
    },
  }));

export const listCases: CaseDefinition[] = [
  ...casesOf(walletSpec),
  ...casesOf(delegateSpec),
  ...casesOf(blockSpec),
  ...casesOf(transactionSpec),
  ...casesOf(lockSpec),
];

const nameOf = new Map<string, string>(Object.values(actors).map(({ name, address }) => [address, name]));

const walletNames = async (snapshot: ChainSnapshot, order: Order<WalletOrder>): Promise<string> =>
  (await walk(snapshot, walletSpec, { filter: {}, order })).map(({ address }) => nameOf.get(address) ?? address).join(" ");

const delegateNames = async (snapshot: ChainSnapshot, order: Order<DelegateOrder>): Promise<string> =>
  (await walk(snapshot, delegateSpec, { filter: {}, order })).map(({ username }) => username).join(" ");

/**
 * Expected orders written out, so that the list cases do not rely on `sorted` alone: ties, negative values, rows without a value, and
 * usernames of which "hal1" (kim's) comes before "hal_2" by code units, and after it in the order of most languages.
 */
const walletOrders: [WalletOrder, "asc" | "desc", string][] = [
  ["balance", "desc", "joe kim ivy ada bob cyd dan eve fay mia ned council hal gus pia rae sam quin pair origin"],
  ["balance", "asc", "origin pair quin sam rae pia gus hal council ned mia fay eve dan cyd bob ada ivy kim joe"],
  ["username", "asc", "ada bob cyd dan eve fay gus kim hal quin pia origin council rae joe mia sam pair ned ivy"],
  ["username", "desc", "hal kim gus fay eve dan cyd bob ada quin pia origin council rae joe mia sam pair ned ivy"],
  ["publicKey", "asc", "hal gus council kim ivy fay ada pia pair cyd eve dan origin joe bob quin rae mia sam ned"],
  ["publicKey", "desc", "bob joe origin dan eve cyd pair pia ada fay ivy kim council gus hal quin rae mia sam ned"],
  ["voteBalance", "desc", "dan ada hal cyd eve gus quin bob kim fay pia origin council rae joe mia sam pair ned ivy"],
  ["nonce", "desc", "joe ivy bob kim origin dan eve ada fay council cyd hal pia gus quin rae mia sam pair ned"],
];

/** As above, after fay's vote balance has become negative. */
const negativeOrders: ["asc" | "desc", string][] = [
  ["desc", "dan ada hal cyd eve gus quin bob kim pia origin council rae joe mia sam pair ned ivy fay"],
  ["asc", "fay ivy ned pair sam mia joe rae council origin pia kim bob quin gus eve cyd hal ada dan"],
];

const delegateOrders: [DelegateOrder, "asc" | "desc", string][] = [
  ["username", "asc", "ada bob cyd dan eve fay gus.1 hal1 hal_2"],
  ["rank", "asc", "dan ada hal_2 cyd gus.1 bob eve fay hal1"],
  ["rank", "desc", "bob gus.1 cyd hal_2 ada dan eve fay hal1"],
  ["voteBalance", "desc", "dan ada hal_2 cyd eve gus.1 bob fay hal1"],
  ["voteBalance", "asc", "hal1 fay bob gus.1 eve cyd hal_2 ada dan"],
  ["approval", "desc", "dan ada hal_2 cyd eve bob fay gus.1 hal1"],
  ["producedBlocks", "desc", "bob dan ada cyd eve hal_2 fay gus.1 hal1"],
  ["missedBlocks", "desc", "cyd bob ada dan eve fay gus.1 hal1 hal_2"],
  ["productivity", "asc", "cyd bob hal_2 eve dan ada fay gus.1 hal1"],
  ["productivity", "desc", "ada dan eve hal_2 bob cyd fay gus.1 hal1"],
  ["voters", "desc", "dan ada gus.1 cyd eve hal_2 bob fay hal1"],
  ["forgedTotal", "asc", "hal1 gus.1 fay hal_2 bob cyd dan eve ada"],
];

export const orderCases: CaseDefinition[] = [
  ...walletOrders.map(([field, direction, expected]) => ({
    name: `wallets: by ${field}, ${direction}, written out`,
    run: async (fixture: Fixture) =>
      fixture.reading(async (snapshot) =>
        same(await walletNames(snapshot, { field, direction }), expected, `wallets by ${field}:${direction}`),
      ),
  })),
  ...negativeOrders.map(([direction, expected]) => ({
    name: `wallets: by voteBalance, ${direction}, a negative one is below the zeros`,
    run: async ({ chain: { blocks, debtorVotes }, open }: Fixture) =>
      readingOf(await open([...blocks, debtorVotes]), async (snapshot) =>
        same(await walletNames(snapshot, { field: "voteBalance", direction }), expected, `wallets by voteBalance:${direction}, after block ${debtorVotes.height}`),
      ),
  })),
  ...delegateOrders.map(([field, direction, expected]) => ({
    name: `delegates: by ${field}, ${direction}, written out`,
    run: async (fixture: Fixture) => {
      if (!withoutFigures(delegateSpec).fields.includes(field)) await fixture.needs("delegateFigures");
      await fixture.reading(async (snapshot) =>
        same(await delegateNames(snapshot, { field, direction }), expected, `delegates by ${field}:${direction}`),
      );
    },
  })),
];
