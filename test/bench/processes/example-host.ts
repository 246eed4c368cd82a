import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endProcess } from "../../fixtures/end-process.js";

/** The example host of this package, as `npm start` runs it, on its own chain, to which no blocks are added. */
export interface ExampleHost {
  readonly port: number;
  close(): Promise<void>;
}

const portIn = async (child: ChildProcess): Promise<number> => {
  if (child.stdout === null) throw new Error("the example host has no output");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const port = /^Portico serves .* at http:\/\/[^:/]+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`the example host ended: ${said.join("; ")}`);
};

export const openExampleHost = async (...args: string[]): Promise<ExampleHost> => {
  const folder = await mkdtemp(join(tmpdir(), "portico-bench-"));
  const options = ["--data-dir", folder, "--port", "0", "--log-format", "pretty", "--no-forge", "--webhook-token", "of the bench", ...args];
  const child = spawn(process.execPath, ["--import", "tsx", "examples/standalone/main.ts", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const close = async (): Promise<void> => {
    await endProcess(child, "SIGTERM");
    await rm(folder, { recursive: true });
  };
  try {
    const port = await portIn(child);
    // What it prints from here on is ignored, but must not fill the pipe.
    child.stdout.resume();
    return { port, close };
  } catch (error) {
    await close();
    throw error;
  }
};
