import { after, describe, it } from "node:test";
import { describeConformance } from "portico/conformance";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

/** A fork author's test file for Node's own runner. With `WRONG=1` its adapter is faulty. */
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
