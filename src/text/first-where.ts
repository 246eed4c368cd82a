/** The first whole number from `low` to below `high` for which a condition holds, as it must for all after it; `high` if there is none. */
export const firstWhere = (low: number, high: number, holds: (number: number) => boolean): number => {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
};
