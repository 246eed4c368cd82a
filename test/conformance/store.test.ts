import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChainRules } from "../../src/chain/rules.js";
import { describeConformance } from "../../src/conformance/index.js";
import { createWatchers } from "../../src/store/lmdb-chain.js";
import { createStore } from "../../src/store/state/store.js";

describeConformance(
  "the LMDB store",
  {
    createAdapter: async ({ network, blocks }) => {
      const dataDir = mkdtempSync(join(tmpdir(), "portico-conformance-"));
      const watchers = createWatchers();
      const rules = createChainRules(network);
      const store = createStore({ dataDir, undoBlocks: 100 }, { rules, changed: watchers.tell });
      await store.apply(blocks.map((block) => rules.parseBlock(block)));
      store.markComplete();
      return {
        adapter: { ...store, changes: { view: store.changesView, watch: watchers.add } },
        apply: (block) => store.apply([rules.parseBlock(block)]),
        revert: () => store.revert(),
        close: async () => {
          await store.stop();
          rmSync(dataDir, { recursive: true });
        },
      };
    },
  },
  { describe, it, after },
);
