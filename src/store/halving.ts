/** The first whole number from `low` to below `high` for which something holds; `high` where there is none. It holds for all beyond one for which it does. */
export const firstWhere = (low: number, high: number, holds: (number: number) => boolean): number => {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
};
