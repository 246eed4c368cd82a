import { describeConformance } from "portico/conformance";
import { createSqliteChain } from "../../examples/custom-fork/store/sqlite-chain.js";
import { runFolder } from "../fixtures/run.js";

describe("the custom fork's SQLite store", () => {
  const target: Parameters<typeof describeConformance>[1] = {
    createAdapter: async ({ network, blocks }) => {
      const adapter = createSqliteChain({ path: `${runFolder()}/chain.sqlite`, network });
      await adapter.start();
      for (const block of blocks) adapter.apply(block);
      return { adapter, apply: adapter.apply, revert: adapter.revert, close: () => adapter.stop() };
    },
  };
  describeConformance("as an adapter", target, { describe, it, after });
});
