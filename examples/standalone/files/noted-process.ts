import { readFileSync } from "node:fs";

/** A process as a lock file notes it. */
export interface NotedProcess {
  pid: number;
  /** When it began, as Linux counts it: a later process with its number began at another time. Undefined if the note does not say. */
  begin: string | undefined;
}

interface Status {
  state: string;
  begin: string;
}

/** What Linux says of a process; undefined on other systems, and for a process that this one may not see. */
const statusOf = (pid: number): Status | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may itself have spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, begin] = [fields[0], fields[19]];
    return state === undefined || begin === undefined ? undefined : { state, begin };
  } catch {
    return undefined;
  }
};

/** A process in one line: its number and, on Linux, when it began. */
export const noteOf = (pid: number): string => `${pid} ${statusOf(pid)?.begin ?? ""}`.trim();

/** Undefined if the text is no such line. */
export const readNote = (text: string): NotedProcess | undefined => {
  const [number, begin] = text.trim().split(" ");
  const pid = Number(number);
  return Number.isSafeInteger(pid) && pid > 0 ? { pid, begin } : undefined;
};

/** Of a process that has ended: Z until its parent has asked for its exit code, X after that. */
const endedStates = ["Z", "X", "x"];

const exists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, but it exists.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/**
 * Whether a process still runs. One that has ended does not, even if its parent has not reaped it, as is usual in containers; where there is
 * no /proc, it counts as running until it is reaped.
 */
export const stillRuns = ({ pid, begin }: NotedProcess): boolean => {
  if (!exists(pid)) return false;
  const status = statusOf(pid);
  if (status === undefined) return true;
  return !endedStates.includes(status.state) && (begin === undefined || begin === status.begin);
};
