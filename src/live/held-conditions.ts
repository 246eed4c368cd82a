import { PorticoError } from "../errors.js";

/** Characters of conditions that do not count: as many requests as there may be connections take some 100 MB. */
const notCounted = 16_384;

/** Characters that all longer ones may have together. A list of 100,000 addresses has 3.7 million, and takes 10 MB of memory. */
const mostHeld = 67_108_864;

/** The long conditions of requests that are under way: each may wait for a minute, and hundreds of them would take all memory. */
export const createHeldConditions = () => {
  let sum = 0;
  return {
    /** Returns what is to be called once they are no longer needed. @throws PorticoError STREAMS_FULL */
    hold: (length: number): (() => void) => {
      if (length <= notCounted) return () => undefined;
      if (sum + length > mostHeld) throw new PorticoError("STREAMS_FULL", "As many requests with long conditions are under way as this node allows.");
      sum += length;
      return () => void (sum -= length);
    },
  };
};
