/** A process that writes a store: `node writer-process.ts DIR FROM TO` applies these blocks and marks it complete. */
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import { loadChain } from "../data/read.js";

const [, , dataDir = "", from = "", to = ""] = process.argv;
const { network, blocks } = loadChain("core3-testnet-a");
const rules = createChainRules(network);
const store = createStore({ dataDir, undoBlocks: 10 }, { rules });
await store.apply(blocks.slice(Number(from) - 1, Number(to)).map(rules.parseBlock));
store.markComplete();
await store.stop();
