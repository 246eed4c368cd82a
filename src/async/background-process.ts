import { fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { messageOf } from "../errors.js";

/** What a process answers to its task. */
type Answer = { result: unknown } | { error: string };

/** How a program that is still TypeScript is run. Tests have it compiled beforehand: they start many. */
export const sources = { run: (file: string): { file: string; execArgv: string[] } => ({ file, execArgv: ["--import", "tsx"] }) };

/** Whether such processes have the lowest priority. Tests wait for them, which would have no end on a busy machine. */
export const priority = { isLowest: true };

/** The node, its clients and its blocks come first. */
const yieldToOthers = (pid: number | undefined): void => {
  try {
    if (pid !== undefined && priority.isLowest) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already, or may not: it is then as any other process.
  }
};

/**
 * Gives a task to a process of its own, of the lowest priority, which ends with this call, whatever comes of it. The program `name`,
 * without its extension, lies beside the module at `base`, and calls `answerTask`. Tasks and results have a form in JSON.
 */
export const inBackgroundProcess = async (name: string, base: string, task: object, stopping: AbortSignal): Promise<unknown> => {
  const extension = base.endsWith(".ts") ? "ts" : "js";
  const path = fileURLToPath(new URL(`./${name}.${extension}`, base));
  const { file, execArgv } = extension === "ts" ? sources.run(path) : { file: path, execArgv: [] };
  const ending = new AbortController();
  const signal = AbortSignal.any([stopping, ending.signal]);
  const child = fork(file, { execArgv, stdio: ["ignore", "ignore", "ignore", "ipc"], signal, killSignal: "SIGKILL" });
  // That it was ended.
  child.on("error", () => undefined);
  const gone = new Promise<void>((resolve) => child.once(child.pid === undefined ? "error" : "exit", () => resolve()));
  yieldToOthers(child.pid);
  try {
    const ended = once(child, "exit", { signal });
    child.send(task);
    const [answer] = (await Promise.race([once(child, "message", { signal }), ended])) as [Answer | number | null];
    if (typeof answer !== "object" || answer === null) throw new Error(`the background process ${name} has ended`);
    await ended;
    if ("error" in answer) throw new Error(answer.error);
    return answer.result;
  } finally {
    ending.abort();
    // What it has open is closed, and its files can be removed.
    await gone;
  }
};

/** To be called by the program of such a process: does its one task, and answers. It ends when the process that gave the task does. */
export const answerTask = (work: (task: never) => Promise<unknown>): void => {
  const end = (): void => process.exit();
  process.once("disconnect", end);
  process.once("message", (task) => {
    const leave = (): void => {
      process.off("disconnect", end);
      process.disconnect();
    };
    const answer = (message: Answer): void => void process.send?.(message, leave);
    work(task as never).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ error: messageOf(error) }),
    );
  });
};
