import type { Tip } from "../../../types/chain.js";
import { runSliced, type Sliced } from "../../async/time-slicing.js";
import type { Environment } from "../lmdb/environment.js";
import { createReading, openTransaction } from "../lmdb/reading.js";
import { readState } from "../records/records.js";
import { readDigest, scanDigest } from "../write/state-digest.js";

/** The digest of a whole state, and the one that is kept for it. */
export interface StateScan {
  tip: Tip;
  kept: string;
  found: string;
}

/** Nothing is read any more once it has ended. */
const unlessEnded = function* <T>(work: Sliced<T>, hasEnded: () => boolean): Sliced<T | undefined> {
  while (!hasEnded()) {
    const step = work.next();
    if (step.done === true) return step.value;
    yield;
  }
  return undefined;
};

/** Computes the digest of the state that is current now, in the background; undefined where there is none, or none was kept for it. */
export const scanState = async (environment: Environment, hasEnded: () => boolean): Promise<StateScan | undefined> => {
  const transaction = openTransaction(environment);
  try {
    const reading = createReading(environment, transaction);
    const tip = readState(reading)?.tip;
    const kept = tip && readDigest(reading, tip)?.toString("hex");
    if (tip === undefined || kept === undefined) return undefined;
    const found = await runSliced(unlessEnded(scanDigest(reading), hasEnded));
    return found && { tip, kept, found: found.toString("hex") };
  } finally {
    transaction.done();
  }
};
