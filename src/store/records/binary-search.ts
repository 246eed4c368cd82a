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

/** Guesses before bisecting: evenly spaced numbers take two or three, those of a chain some more. */
const evenGuesses = 8;

/**
 * The first place from `low` to below `high` whose number is not below `wanted`; `high` if there is none. Numbers ascend by place. Each
 * guess interpolates, so the more evenly they are spaced, the fewer are read.
 */
export const firstNotBelow = (low: number, high: number, wanted: number, numberAt: (place: number) => number): number => {
  if (low >= high) return low;
  let [below, found] = [low, high - 1];
  let [least, most] = [numberAt(below), numberAt(found)];
  if (least >= wanted) return low;
  if (most < wanted) return high;
  for (let guesses = 0; found - below > 1; guesses++) {
    const share = guesses < evenGuesses ? (wanted - least) / (most - least) : 0.5;
    const place = Math.min(found - 1, Math.max(below + 1, below + Math.floor(share * (found - below))));
    const number = numberAt(place);
    if (number < wanted) [below, least] = [place, number];
    else [found, most] = [place, number];
  }
  return found;
};
