import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { layoutVersion } from "../../../src/store/layout/keys.js";
import { chainVersion } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";

/** Where the stores of the bench are kept between runs: `PORTICO_BENCH_DIR`, or a folder of the user's cache. */
const storesFolder = (): string => process.env.PORTICO_BENCH_DIR ?? join(homedir(), ".cache", "portico", "bench");

/** The folder of one store. A store of another layout, or of another chain, has another folder. */
export const storeFolder = ({ name }: ChainSize): string => join(storesFolder(), `${name}-layout-${layoutVersion}-chain-${chainVersion}`);

/** A store gets this name only when it is complete. */
export const isBuilt = (size: ChainSize): boolean => existsSync(storeFolder(size));
