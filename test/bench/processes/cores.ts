import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** Has all threads of a process run on these cores only. Returns whether the system can do that. */
const pin = (pid: number, cores: string): boolean => {
  try {
    execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/**
 * Gives the load, which is this process, the last core, and a server the others, until the returned function is called: a load that comes over a network takes no
 * core of the server's. Without it, where there are two cores, the slowest of a hundred requests is one that waited for a core. Undefined where it cannot be done.
 */
export const keepApart = (server: number | undefined): (() => void) | undefined => {
  const last = availableParallelism() - 1;
  const all = `0-${last}`;
  if (server === undefined || last === 0 || !pin(server, `0-${last - 1}`)) return undefined;
  pin(process.pid, String(last));
  return () => void (pin(server, all), pin(process.pid, all));
};
