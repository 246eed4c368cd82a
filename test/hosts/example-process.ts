import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { programOf } from "../fixtures/programs.js";

export const root = new URL("../../", import.meta.url);

/** A process that a test started, with its output so far. */
export interface ExampleProcess {
  readonly lines: string[];
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the first line that matches. Fails if the process ends before. */
  line(pattern: RegExp): Promise<string>;
}

/** Runs programs in an empty folder; `clear` ends them and deletes it. */
export interface Workbench {
  readonly folder: string;
  node(args: readonly string[], environment?: Record<string, string>): ExampleProcess;
  /** One of the project's TypeScript programs; it listens on any free port. */
  example(file: string, environment?: Record<string, string>, args?: readonly string[]): ExampleProcess;
  clear(): Promise<void>;
}

/** Collects what a process prints on both its streams. */
export const watch = (child: ChildProcess): ExampleProcess => {
  const lines: string[] = [];
  const waiting: { pattern: RegExp; found: (line: string) => void }[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (line) => {
      lines.push(line);
      for (const { pattern, found } of waiting) if (pattern.test(line)) found(line);
    });
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    line: (pattern) =>
      new Promise((found, fail) => {
        const known = lines.find((line) => pattern.test(line));
        if (known !== undefined) found(known);
        waiting.push({ pattern, found });
        void ended.then((code) => fail(new Error(`it ended with ${String(code)} before: ${lines.join("\n")}`)));
      }),
  };
};

export const createWorkbench = (): Workbench => {
  const folder = mkdtempSync(join(tmpdir(), "portico-host-"));
  const children: ChildProcess[] = [];
  const node: Workbench["node"] = (args, environment = {}) => {
    const env = { ...process.env, PORT: "0", ...environment };
    const child = spawn(process.execPath, [...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    children.push(child);
    return watch(child);
  };
  return {
    folder,
    node,
    example: (file, environment, args = []) => node([programOf(file), ...args], environment),
    clear: async () => {
      for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** The URL that a host prints. */
export const urlIn = (line: string): string => /http:\S+/.exec(line)?.[0] ?? "";
