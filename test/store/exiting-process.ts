/** A process that exits MILLISECONDS after blocks were processed, during their commit: `node exiting-process.ts DIR MILLISECONDS`. */
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

const [, , dataDir = "", milliseconds] = process.argv;
const { network, blocks } = loadChain("core3-custom-c");
const rules = createChainRules(network);
const store = createStore({ dataDir, undoBlocks: 1_000 }, { rules });
const height = store.tip()?.height ?? 0;
await store.applyAhead(blocks.slice(height, height + 20).map(rules.parseBlock));
setTimeout(() => process.exit(7), Number(milliseconds));
