import type { ChainSnapshot, Order } from "../../../types/chain-adapter.js";
import { rowOf, same, show } from "../comparing.js";
import type { FilterLaw, Surroundings } from "../filters.js";
import { blockLaw, delegateLaw, type ListLaw, lockLaw, sorted, transactionLaw, walletLaw } from "../lists.js";
import type { Bench } from "../target.js";
import { askPage, everyRow, expectFiltered, mostRows, sameRows, walk } from "../walk.js";
import type { CaseDefinition } from "./case.js";

const surroundingsOf = async (snapshot: ChainSnapshot): Promise<Surroundings> => {
  const wallets = await everyRow(snapshot, walletLaw);
  return {
    height: snapshot.tip.height,
    timestamp: snapshot.tip.timestamp,
    secondPublicKeys: new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey])),
  };
};

/** At most three of a filter's samples: enough for testing pairs of filters. */
const three = (values: readonly unknown[]): unknown[] =>
  values.filter((_, index) => index === 0 || index === 1 || index === values.length - 1);

/** The rules that every list obeys, whatever is in it. */
const casesOf = <Row extends object, Filter, Field extends string>(law: ListLaw<Row, Filter, Field>): CaseDefinition[] => {
  const orders = law.fields.flatMap((field): Order<Field>[] => [
    { field, direction: "asc" },
    { field, direction: "desc" },
  ]);

  const reading = (
    bench: Bench,
    read: (snapshot: ChainSnapshot, all: Row[], around: Surroundings) => Promise<void>,
  ): Promise<void> =>
    bench.reading(async (snapshot) => read(snapshot, await everyRow(snapshot, law), await surroundingsOf(snapshot)));

  const eachOrder = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all) => {
      for (const order of orders) {
        const expected = sorted(all, order, law);
        for (const limit of [1, 7, mostRows]) {
          const found = await walk(snapshot, law, { filter: {} as Filter, order, limit });
          sameRows(law, found, expected, `${law.name} ${show({ order, limit })}`);
        }
      }
    });

  const anyOffset = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all) => {
      const expected = sorted(all, law.usual, law);
      for (let offset = 0; offset <= all.length + 1; offset += 1) {
        const page = await askPage(snapshot, law, { filter: {} as Filter, order: law.usual, offset, limit: 3 });
        sameRows(law, page.rows, expected.slice(offset, offset + 3), `${law.name} ${show({ offset, limit: 3 })}`);
        same(page.total, all.length, `${law.name} ${show({ offset, limit: 3 })}: total`);
      }
    });

  const eachFilter = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all, around) => {
      for (const filter of law.filters) {
        for (const value of filter.samples(all, around)) await expectFiltered(snapshot, law, all, around, [[filter, value]]);
      }
    });

  const eachPair = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all, around) => {
      const samples = law.filters.map((filter) => [filter, three(filter.samples(all, around))] as const);
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
      for (const pair of pairs) await expectFiltered(snapshot, law, all, around, pair);
    });

  const allAtOnce = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all, around) => {
      for (const row of all) {
        const filters = law.filters
          .map((filter): [FilterLaw<Row>, unknown] => [filter, filter.of(row, around)])
          .filter(([, value]) => value !== undefined);
        await expectFiltered(snapshot, law, all, around, filters);
      }
    });

  const together = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all, around) => {
      for (const filter of law.filters) {
        for (const value of three(filter.samples(all, around))) {
          const passing = all.filter((row) => filter.passes(row, value, around));
          for (const order of orders) {
            const query = { filter: { [filter.name]: value } as Filter, order, limit: 2 };
            const found = await walk(snapshot, law, query);
            same(found.map(law.keyOf), sorted(passing, order, law).map(law.keyOf), `${law.name} ${show(query)}`);
          }
        }
      }
    });

  const lookedUp = (bench: Bench): Promise<void> =>
    reading(bench, async (snapshot, all) => {
      for (const row of all) {
        const found = await law.find(snapshot, row);
        same(rowOf(law.kind, found), rowOf(law.kind, row), `${law.name}: the look-up of ${law.keyOf(row)}`);
      }
    });

  const cases: [string, CaseDefinition["run"]][] = [
    ["each order in both directions, page by page", eachOrder],
    ["any offset, with the same total everywhere", anyOffset],
    ["each filter alone", eachFilter],
    ["each pair of filters", eachPair],
    ["all filters of a row at once", allAtOnce],
    ["each filter in each order, page by page", together],
    ["rows are what look-ups give", lookedUp],
  ];
  return cases.map(([name, run]) => ({
    name: `${law.name}: ${name}`,
    run: async (bench) => {
      if (law.name === "locks") await bench.needs("locks");
      await run(bench);
    },
  }));
};

export const listCases: CaseDefinition[] = [
  ...casesOf(walletLaw),
  ...casesOf(delegateLaw),
  ...casesOf(blockLaw),
  ...casesOf(transactionLaw),
  ...casesOf(lockLaw),
];
