import { describeConformance } from "portico/conformance";
import { createSqliteChain } from "../../examples/custom-fork/store/sqlite-chain.js";
import { removed, temporaryFolder } from "./temporary-chain.js";

describe("the custom fork's SQLite store", function () {
  this.timeout(120_000);
  const target: Parameters<typeof describeConformance>[1] = {
    createAdapter: async ({ network, blocks }) => {
      const folder = temporaryFolder();
      const adapter = createSqliteChain({ path: `${folder}/chain.sqlite`, network });
      await adapter.start();
      for (const block of blocks) adapter.apply(block);
      return { adapter, apply: adapter.apply, revert: adapter.revert, close: () => adapter.stop().then(() => removed(folder)) };
    },
  };
  describeConformance("as an adapter", target, { describe, it, after });
});
