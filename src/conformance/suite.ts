import { earlierCases } from "./cases/earlier.js";
import { figureCases } from "./cases/figures.js";
import { followingCases } from "./cases/following.js";
import { listCases } from "./cases/lists.js";
import { lookUpCases } from "./cases/lookups.js";
import { movingCases } from "./cases/moving.js";
import { orderCases } from "./cases/orders.js";
import { statisticsCases } from "./cases/statistics.js";
import { transactionCases } from "./cases/transactions.js";
import { type ConformanceTarget, createFixtures, Skipped } from "./target.js";

/** The outcome of a case that did not fail. */
export interface ConformanceOutcome {
  /** Why the case was skipped, if it was: the adapter does not support a part, or the subject lacks `apply` or `revert`. */
  skipped?: string;
}

export interface ConformanceCase {
  name: string;
  /** Resolves if the adapter conforms. @throws AssertionError that says what was asked and where the answers differ */
  run(): Promise<ConformanceOutcome>;
}

export interface ConformanceSuite {
  cases: readonly ConformanceCase[];
  /** Closes the adapter that the read-only cases share. To be called after the last case. */
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
  ...followingCases,
  ...earlierCases,
];

/**
 * The rules that a ChainAdapter must obey, as cases for any test runner. They must be run one after another. The suite brings its own
 * chain, with every core type of both wire versions, on a network with five and later four active delegates.
 */
export const createConformanceSuite = (target: ConformanceTarget): ConformanceSuite => {
  const fixtures = createFixtures(target);
  const cases = definitions.map(({ name, run }) => ({
    name,
    run: async (): Promise<ConformanceOutcome> => {
      try {
        await fixtures.on(run);
        return {};
      } catch (error) {
        if (error instanceof Skipped) return { skipped: error.message };
        throw error;
      }
    },
  }));
  return { cases, close: fixtures.close };
};
