import { readFileSync } from "node:fs";

/** Microseconds of processor time that this thread has taken, without those that LMDB and V8 have for themselves. Linux only. */
export const threadTime = (): number => Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1_000;
