import { closest, distance } from "fastest-levenshtein";

/** Characters of a name that are looked at. */
const longest = 100;

/** Whether a name may be another one, misspelt: one slip in a short one, more in a long one. */
const isNear = (name: string, other: string): boolean =>
  distance(name.toLowerCase(), other.toLowerCase()) <= (other.length < 4 ? 1 : 2 + Math.floor(other.length / 8));

/** The known name that is meant by another: misspelt, or without the member of it (`balance` for `balance.from`). */
const meantBy = (name: string, known: readonly string[]): string | undefined => {
  const near = closest(name, [...known]);
  return isNear(name, near) ? near : known.find((other) => other.startsWith(`${name}.`));
};

/** What follows a sentence that lists the known names: the nearest one, if one is near. */
export const didYouMean = (name: unknown, known: readonly string[]): string => {
  const meant = typeof name !== "string" || known.length === 0 ? undefined : meantBy(name.slice(0, longest), known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
};

/** What follows the sentence that a name is not allowed: the nearest one, if one is near, and all those there are. */
export const amongKnown = (name: string, known: readonly string[]): string => {
  if (known.length === 0) return "; there are none here";
  const meant = didYouMean(name, known);
  return `${meant === "" ? "; allowed" : `${meant} Allowed`}: ${known.join(", ")}`;
};
