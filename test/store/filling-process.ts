/** A process that fills sets of a store: `node filling-process.ts DIR`. Prints a line after each of three parts, and begins the next. It never ends. */
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { network } from "./filled-chain.js";

const [, , dataDir = ""] = process.argv;
const store = createStore({ undoBlocks: 10, dataDir }, { rules: createChainRules(network) });
for (let part = 0; part < 3; part++) console.log(await store.fillSets());
setInterval(() => undefined, 1_000);
await store.fillSets();
