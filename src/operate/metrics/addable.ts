/**
 * Whole numbers of 2^-20 s, about a microsecond, are added without rounding. Other sums differ by the order in which processes are added, and
 * Prometheus would take one that is less by its last digit for a restart.
 */
export const addable = (value: number): number => Math.floor(value * 2 ** 20) / 2 ** 20;
