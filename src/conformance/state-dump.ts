import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { rowsOf } from "./comparing.js";
import type { Surroundings } from "./filters.js";
import { blockSpec, delegateSpec, type ListSpec, lockSpec, transactionSpec, walletSpec } from "./lists.js";
import type { Fixture } from "./target.js";
import { everyRow, walk } from "./walk.js";

/** Everything that one snapshot answers, for comparison with another. */
export type StateDump = Record<string, unknown>;

/** Takes dumps. The filter values that it asks for are derived from the whole chain, so that all dumps use the same ones. */
export interface StateDumper {
  of(snapshot: ChainSnapshot): Promise<StateDump>;
}

type Question = (snapshot: ChainSnapshot) => Promise<[string, unknown][]>;

const questionsOf = async <Row extends object, Filter, Field extends string>(
  spec: ListSpec<Row, Filter, Field>,
  whole: ChainSnapshot,
  around: Surroundings,
): Promise<Question> => {
  const all = await everyRow(whole, spec);
  // Values that no row has are asked for by the list cases, of one state.
  const samples = spec.filters.map((filter) => [filter.name, filter.samples(all, around).filter((value) => all.some((row) => filter.passes(row, value, around)))] as const);
  return async (snapshot) => {
    const answers: [string, unknown][] = [[spec.name, rowsOf(spec.kind, await everyRow(snapshot, spec))]];
    for (const field of spec.fields) {
      const rows = await walk(snapshot, spec, { filter: {} as Filter, order: { field, direction: "asc" } });
      answers.push([`${spec.name} by ${field}`, rows.map(spec.keyOf)]);
    }
    for (const [name, values] of samples) {
      for (const [index, value] of values.entries()) {
        const rows = await walk(snapshot, spec, { filter: { [name]: value } as Filter, order: spec.usual });
        answers.push([`${spec.name} by ${name}, sample ${index}`, rows.map(spec.keyOf)]);
      }
    }
    return answers;
  };
};

const roundsOf: Question = async (snapshot) => {
  const answers: [string, unknown][] = [];
  for (let round = 1; round <= 12; round += 1) {
    const found = await snapshot.round(round);
    answers.push([`round ${round}`, rowsOf("roundDelegate", found)]);
  }
  return answers;
};

const feesOf: Question = async (snapshot) => [
  ["fee statistics", rowsOf("feeStatistics", await snapshot.feeStatistics({ from: 0, to: Number.MAX_SAFE_INTEGER }))],
];

export const createStateDumper = (fixture: Fixture): Promise<StateDumper> =>
  fixture.reading(async (whole) => {
    const wallets = await everyRow(whole, walletSpec);
    const around: Surroundings = {
      height: whole.tip.height,
      timestamp: whole.tip.timestamp,
      secondPublicKeys: new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey])),
    };
    const questions: Question[] = [
      await questionsOf(walletSpec, whole, around),
      await questionsOf(delegateSpec, whole, around),
      await questionsOf(blockSpec, whole, around),
      await questionsOf(transactionSpec, whole, around),
      ...((await fixture.offers("locks")) ? [await questionsOf(lockSpec, whole, around)] : []),
      ...((await fixture.offers("rounds")) ? [roundsOf] : []),
      ...((await fixture.offers("feeStatistics")) ? [feesOf] : []),
    ];
    return {
      of: async (snapshot) => {
        const { id, height, timestamp } = snapshot.tip;
        const dump: StateDump = { tip: { id, height, timestamp }, supply: snapshot.supply };
        for (const ask of questions) Object.assign(dump, Object.fromEntries(await ask(snapshot)));
        return dump;
      },
    };
  });
