import type { ChainName } from "../data/read.js";

export const chainNames: ChainName[] = ["core3-testnet-a", "core3-custom-c"];
