/** The value that a part of them lie below: 0.5 is the median. Of ascending numbers. */
export const quantile = (ascending: ArrayLike<number>, part: number): number => ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? NaN;

export const median = (values: readonly number[]): number => quantile(Float64Array.from(values).sort(), 0.5);

/**
 * What a thing takes that is timed from within: a quarter of the times are below it. Whatever else the machine does only ever adds to
 * a time, and may do so to more than half of them.
 */
export const undisturbed = (times: readonly number[]): number => quantile(Float64Array.from(times).sort(), 0.25);
