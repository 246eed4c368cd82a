import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Microseconds of processor time that this process has taken. */
export const cpuTime = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Megabytes of this process's heap after garbage collection, with what is kept beside it. */
export const heapUsed = (): number => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let times = 0; times < 3; times++) collect();
  const { heapUsed: used, external } = process.memoryUsage();
  return (used + external) / 2 ** 20;
};
