import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endProcess } from "../fixtures/end-process.js";
import { programOf } from "../fixtures/programs.js";

const root = new URL("../../", import.meta.url);

/** What `npm start` runs, as a process of its own with a folder of its own. */
export interface ExampleHost {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** What it prints before it serves. */
  readonly welcome: string;
  /** Ends it as Ctrl-C does; resolves with the exit code. */
  stop(): Promise<number | null>;
}

const untilLine = (child: ChildProcess, pattern: RegExp, lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        if (pattern.test(line)) resolve(line);
      });
    }
    child.once("exit", (code) => reject(new Error(`the host ended with ${String(code)}: ${lines.join("\n")}`)));
  });

/** `args` returns options besides the data folder and the port; it may write files into the folder it is given. */
export const startExampleHost = async (args: (folder: string) => string[]): Promise<ExampleHost> => {
  const folder = mkdtempSync(join(tmpdir(), "portico-example-"));
  const child = spawn(process.execPath, [programOf("examples/standalone/main.ts"), "--data-dir", join(folder, "data"), "--port", "0", "--log-format", "pretty", ...args(folder)], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const stop = async (): Promise<number | null> => {
    await endProcess(child, "SIGINT");
    rmSync(folder, { recursive: true, force: true });
    return child.exitCode;
  };
  const serving = untilLine(child, /^Portico serves/, lines);
  const told = untilLine(child, /^Ctrl-C stops/, lines);
  try {
    const origin = /http:\/\/[^/]+/.exec(await serving)?.[0] ?? "";
    await told;
    return { origin, welcome: lines.join("\n"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
