import { createConformanceSuite } from "./suite.js";
import type { ConformanceTarget } from "./target.js";

type Body = (this: unknown, ...context: unknown[]) => Promise<void>;

/** What the suite needs from a test runner. mocha and node:test have all three; in vitest and jest, `after` is called `afterAll`. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
  after(body: () => Promise<void>): unknown;
}

const canSkip = (context: unknown): context is { skip(reason?: string): void } =>
  ((typeof context === "object" && context !== null) || typeof context === "function") && "skip" in context && typeof context.skip === "function";

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
