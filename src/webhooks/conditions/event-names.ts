/** Whether a name is one that a list of names and patterns means: `block.applied`, `transaction.*` (all that begin so), `*` (all). */
export const namesEvent = (names: readonly string[], event: string): boolean => names.some((name) => name === event || (isNamePattern(name) && event.startsWith(name.slice(0, -1))));

/** A `*` at the end, alone or after a point. */
export const isNamePattern = (name: string): boolean => name === "*" || name.endsWith(".*");
