/** The value below which a part of some ascending numbers lie: 0.5 is the median. */
export const quantile = (ascending: ArrayLike<number>, part: number): number => ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? NaN;

export const median = (values: readonly number[]): number => quantile(Float64Array.from(values).sort(), 0.5);

/**
 * How long something takes when nothing disturbs it: a quarter of the times measured are below this. Whatever else the machine does only
 * ever adds to a time, and may do so to more than half of them.
 */
export const undisturbed = (times: readonly number[]): number => quantile(Float64Array.from(times).sort(), 0.25);
