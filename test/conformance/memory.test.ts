import { describeConformance } from "../../src/conformance/index.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

describeConformance(
  "the in-memory adapter",
  {
    createAdapter: ({ network, blocks }) => {
      const adapter = createMemoryAdapter(network);
      for (const block of blocks) adapter.apply(block);
      return { adapter, apply: adapter.apply, revert: adapter.revert };
    },
  },
  { describe, it, after },
);
