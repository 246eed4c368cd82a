import { figureCases } from "./cases/figures.js";
import { listCases } from "./cases/lists.js";
import { lookUpCases } from "./cases/lookups.js";
import { movingCases } from "./cases/moving.js";
import { orderCases } from "./cases/orders.js";
import { statisticsCases } from "./cases/statistics.js";
import { transactionCases } from "./cases/transactions.js";
import { type ConformanceTarget, createBenches, Skipped } from "./target.js";

/** What came of a case that did not fail. */
export interface ConformanceOutcome {
  /** Why the case was left out, where it was: a part that the adapter does not offer, or a move that the target has no hook for. */
  skipped?: string;
}

export interface ConformanceCase {
  name: string;
  /** Resolves when the adapter keeps the law. @throws AssertionError saying what was asked and where the answers differ. */
  run(): Promise<ConformanceOutcome>;
}

export interface ConformanceSuite {
  cases: readonly ConformanceCase[];
  /** Closes the adapter that the reading cases share. To be called when the last case has run. */
  close(): Promise<void>;
}

const definitions = [
  ...figureCases,
  ...transactionCases,
  ...orderCases,
  ...lookUpCases,
  ...listCases,
  ...statisticsCases,
  ...movingCases,
];

/**
 * The laws that a ChainAdapter has to keep, as cases for any test runner. They run one after another, on a chain that the
 * suite brings along: every core type of both wire versions, on a network of five and later four active delegates.
 */
export const createConformanceSuite = (target: ConformanceTarget): ConformanceSuite => {
  const benches = createBenches(target);
  const cases = definitions.map(({ name, run }) => ({
    name,
    run: async (): Promise<ConformanceOutcome> => {
      try {
        await benches.on(run);
        return {};
      } catch (error) {
        if (error instanceof Skipped) return { skipped: error.message };
        throw error;
      }
    },
  }));
  return { cases, close: benches.close };
};
