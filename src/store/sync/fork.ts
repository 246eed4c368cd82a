/** Where the chain of a block source leaves the store's. */
export interface Fork {
  /** Of the last block that both have; 0: not even genesis. */
  height: number;
  /** Whether the source has another block above it. If not, its chain ended there when it was looked at. */
  goesOn: boolean;
}

/**
 * Finds the fork below a tip that the source does not have, in a number of reads that grows with the logarithm of its depth: a chain's
 * blocks name those before them, so whoever shares a block shares all below it.
 */
export const findFork = async (tip: number, isShared: (height: number) => Promise<boolean>, hasOther: (height: number) => Promise<boolean>): Promise<Fork> => {
  let [shared, other] = [tip - 1, tip];
  for (let step = 1; shared > 0 && !(await isShared(shared)); step *= 2) {
    other = shared;
    shared = shared === 1 ? 0 : Math.max(1, shared - step);
  }
  while (other - shared > 1) {
    const middle = Math.floor((shared + other) / 2);
    if (await isShared(middle)) shared = middle;
    else other = middle;
  }
  return { height: shared, goesOn: await hasOther(shared + 1) };
};
