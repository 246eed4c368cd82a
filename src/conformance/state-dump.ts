import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { rowsOf } from "./comparing.js";
import type { Surroundings } from "./filters.js";
import { blockLaw, delegateLaw, type ListLaw, lockLaw, transactionLaw, walletLaw } from "./lists.js";
import type { Bench } from "./target.js";
import { everyRow, walk } from "./walk.js";

/** Everything that one snapshot answers, for comparison with another. */
export type Portrait = Record<string, unknown>;

/** Takes portraits. The filter values that it asks for are derived from the whole chain, so that all portraits use the same ones. */
export interface Portraitist {
  of(snapshot: ChainSnapshot): Promise<Portrait>;
}

type Question = (snapshot: ChainSnapshot) => Promise<[string, unknown][]>;

const questionsOf = async <Row extends object, Filter, Field extends string>(
  law: ListLaw<Row, Filter, Field>,
  whole: ChainSnapshot,
  around: Surroundings,
): Promise<Question> => {
  const all = await everyRow(whole, law);
  const samples = law.filters.map((filter) => [filter.name, filter.samples(all, around)] as const);
  return async (snapshot) => {
    const answers: [string, unknown][] = [[law.name, rowsOf(law.kind, await everyRow(snapshot, law))]];
    for (const field of law.fields) {
      const rows = await walk(snapshot, law, { filter: {} as Filter, order: { field, direction: "asc" } });
      answers.push([`${law.name} by ${field}`, rows.map(law.keyOf)]);
    }
    for (const [name, values] of samples) {
      for (const [index, value] of values.entries()) {
        const rows = await walk(snapshot, law, { filter: { [name]: value } as Filter, order: law.usual });
        answers.push([`${law.name} by ${name}, sample ${index}`, rows.map(law.keyOf)]);
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

export const createPortraitist = (bench: Bench): Promise<Portraitist> =>
  bench.reading(async (whole) => {
    const wallets = await everyRow(whole, walletLaw);
    const around: Surroundings = {
      height: whole.tip.height,
      timestamp: whole.tip.timestamp,
      secondPublicKeys: new Map(wallets.map(({ address, secondPublicKey }) => [address, secondPublicKey])),
    };
    const questions: Question[] = [
      await questionsOf(walletLaw, whole, around),
      await questionsOf(delegateLaw, whole, around),
      await questionsOf(blockLaw, whole, around),
      await questionsOf(transactionLaw, whole, around),
      ...((await bench.offers("locks")) ? [await questionsOf(lockLaw, whole, around)] : []),
      ...((await bench.offers("rounds")) ? [roundsOf] : []),
      ...((await bench.offers("feeStatistics")) ? [feesOf] : []),
    ];
    return {
      of: async (snapshot) => {
        const { id, height, timestamp } = snapshot.tip;
        const portrait: Portrait = { tip: { id, height, timestamp }, supply: snapshot.supply };
        for (const ask of questions) Object.assign(portrait, Object.fromEntries(await ask(snapshot)));
        return portrait;
      },
    };
  });
