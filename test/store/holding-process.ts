/** A process that keeps a store open for writing until it is killed: `node holding-process.ts DIR`. Prints a line once it is open. */
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

const [, , dataDir = ""] = process.argv;
const { network, blocks } = loadChain("core3-custom-c");
const rules = createChainRules(network);
const store = createStore({ dataDir, undoBlocks: 10 }, { rules });
await store.apply(blocks.slice(0, 1).map(rules.parseBlock));
console.log("open");
setInterval(() => undefined, 60_000);
