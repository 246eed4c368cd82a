/** The value that a part of them lie below: 0.5 is the median. Of ascending numbers. */
export const quantile = (ascending: ArrayLike<number>, part: number): number => ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? NaN;

export const median = (values: readonly number[]): number => quantile(Float64Array.from(values).sort(), 0.5);
