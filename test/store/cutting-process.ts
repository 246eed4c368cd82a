/**
 * A process that opens copies of a store which are cut to given sizes, in every way, and reads all that they have:
 * `node cutting-process.ts STORE FOLDER SIZE...`. Prints what comes of each: a signal ends the list.
 */
import { copyFileSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { PorticoError } from "../../src/errors.js";
import { openEnvironment } from "../../src/store/lmdb/environment.js";
import { loadChain } from "../data/read.js";

const [, , whole = "", folder = "", ...sizes] = process.argv;
const { nethash } = loadChain("core3-custom-c").network.network;

export interface Outcome {
  size: number;
  access: "write" | "read";
  /** How many entries it read, or why it could not. */
  result: number | { code: string; message: string };
  isUnchanged: boolean;
}

const readAll = async (dataDir: string, access: Outcome["access"]): Promise<Outcome["result"]> => {
  try {
    const { db, close } = openEnvironment(dataDir, nethash, { access });
    let count = 0;
    for (const database of Object.values(db)) for (const { value } of database.getRange({})) count += Number(value !== undefined);
    await close();
    return count;
  } catch (error) {
    if (error instanceof PorticoError) return { code: error.code, message: error.message };
    throw error;
  }
};

for (const [index, size] of sizes.map(Number).entries()) {
  for (const access of ["write", "read"] as const) {
    const dataDir = join(folder, `${index}-${access}`);
    mkdirSync(dataDir);
    const path = join(dataDir, "chain.mdb");
    copyFileSync(whole, path);
    truncateSync(path, size);
    const before = readFileSync(path);
    const result = await readAll(dataDir, access);
    const outcome: Outcome = { size, access, result, isUnchanged: readFileSync(path).equals(before) };
    console.log(JSON.stringify(outcome));
  }
}
