import { after, describe, it } from "node:test";
import { describeConformance } from "portico/conformance";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

/** A fork author's test file for the runner that comes with Node. `WRONG=1`: of an adapter that is not right. */
describeConformance(
  "the memory adapter",
  {
    createAdapter: ({ network, blocks }) => {
      const adapter = createMemoryAdapter(network);
      for (const block of process.env.WRONG === "1" ? blocks.slice(0, -1) : blocks) adapter.apply(block);
      const chain = { supports: { locks: false }, snapshot: () => adapter.snapshot() };
      return Promise.resolve({ adapter: chain, close: () => undefined });
    },
  },
  { describe, it, after },
);
