import type { ChainName } from "../data/read.js";

export { storedChain } from "../fixtures/stored-chain.js";

export const chainNames: ChainName[] = ["core3-testnet-a", "core3-custom-c"];
