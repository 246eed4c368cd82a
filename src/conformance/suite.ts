import { earlierCases } from "./cases/earlier.js";
import { figureCases } from "./cases/figures.js";
import { followingCases } from "./cases/following.js";
import { listCases, orderCases } from "./cases/lists.js";
import { lookUpCases, statisticsCases } from "./cases/lookups.js";
import { movingCases } from "./cases/moving.js";
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

type Body = (this: unknown, ...context: unknown[]) => Promise<void>;

/** What the suite needs from a test runner. mocha and node:test have all three; in vitest and jest, `after` is called `afterAll`. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
  after(body: () => Promise<void>): unknown;
}

const canSkip = (context: unknown): context is { skip(reason?: string): void } =>
  ((typeof context === "object" && context !== null) || typeof context === "function") &&
  "skip" in context &&
  typeof context.skip === "function";

/**
 * An implementer's whole test file:
 *
 *     import { after, describe, it } from "node:test";
 *     import { describeConformance } from "portico/conformance";
 *
 *     const createAdapter = async ({ network, blocks }) => {
 *       const adapter = await createMyAdapter(network);
 *       for (const block of blocks) await adapter.write(block);
 *       return { adapter, apply: adapter.write, revert: adapter.takeBack, close: adapter.close };
 *     };
 *     describeConformance("my adapter", { createAdapter }, { describe, it, after });
 *
 * Registers the whole suite as one `describe`. A case for a part that the adapter does not have is skipped, with the reason, if the
 * runner can do that (mocha, node:test, vitest), and otherwise passes.
 */
export const describeConformance = (name: string, target: ConformanceTarget, { describe, it, after }: TestRunner): void => {
  describe(`${name}: conformance`, () => {
    const suite = createConformanceSuite(target);
    after(() => suite.close());
    for (const { name: title, run } of suite.cases) {
      const body: Body = async function (...context) {
        const { skipped } = await run();
        if (skipped === undefined) return;
        // mocha passes its context as `this`, node:test as the first argument, vitest likewise, but as a function
        const runner = [this, ...context].find(canSkip);
        runner?.skip(skipped);
      };
      it(title, body);
    }
  });
};
