/** A process that keeps a store open for writing until it is killed: `node holding-process.ts DIR`. Prints a line once it is open. The store is written there before. */
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

const [, , dataDir = ""] = process.argv;
createStore({ dataDir, undoBlocks: 10 }, { rules: createChainRules(loadChain("core3-custom-c").network) });
console.log("open");
setInterval(() => undefined, 60_000);
