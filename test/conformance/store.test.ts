import { createChainRules } from "../../src/chain/rules.js";
import { describeConformance } from "../../src/conformance/index.js";
import { createWatchers } from "../../src/store/lmdb-chain.js";
import { createStore } from "../../src/store/state/store.js";
import { runFolder } from "../fixtures/run.js";

describeConformance(
  "the LMDB store",
  {
    createAdapter: async ({ network, blocks }) => {
      // Some adapters are shared by tests.
      const dataDir = runFolder();
      const watchers = createWatchers();
      const rules = createChainRules(network);
      const store = createStore({ dataDir, undoBlocks: 100 }, { rules, changed: watchers.tell });
      await store.apply(blocks.map((block) => rules.parseBlock(block)));
      store.markComplete();
      return {
        adapter: { ...store, changes: { view: store.changesView, watch: watchers.add } },
        apply: (block) => store.apply([rules.parseBlock(block)]),
        revert: () => store.revert(),
        close: () => store.stop(),
      };
    },
  },
  { describe, it, after },
);
