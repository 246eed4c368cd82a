import { createChainRules } from "../../src/chain/rules.js";
import { loadChain } from "../data/read.js";

/** A block of a real chain that has several transactions, and what is before it. */
export const chain = loadChain("core3-testnet-a");
export const rules = createChainRules(chain.network);
export const rich = chain.blocks.find(({ height, numberOfTransactions }) => height > 10 && numberOfTransactions > 1)!.height;
export const before = chain.blocks.slice(0, rich - 1).map((block) => rules.parseBlock(block));
export const withTransactions = rules.parseBlock(chain.blocks[rich - 1]!);
