import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../src/errors.js";
import type { Network } from "../../types/node-context.js";
import { endProcess } from "../fixtures/end-process.js";
import { programOf } from "../fixtures/programs.js";
import { freePort } from "../free-port.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";

/** A folder for `--network`. */
export const networkFolder = ({ network, milestones, exceptions, genesisBlock }: Network): string => {
  const folder = join(temporaryFolder(), "network");
  mkdirSync(folder);
  for (const [name, content] of Object.entries({ network, milestones, exceptions, genesisBlock })) writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
  return folder;
};

/** The example host in a process of its own, which can be killed and started again at the same port with the same folder. */
export class HostProcess {
  readonly name: string;
  readonly dataDir = temporaryFolder();
  readonly output: string[] = [];
  port = 0;
  /** A command that runs the one after it. */
  within: readonly string[] = [];
  private readonly options: readonly string[];
  private readonly environment: Readonly<Record<string, string>>;
  private child: ChildProcess | undefined;

  constructor(name: string, options: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.name = name;
    this.options = options;
    this.environment = environment;
    atEndOfTest(() => this.end("SIGKILL"));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  private async spawn(): Promise<ChildProcess> {
    if (this.port === 0) this.port = await freePort();
    const args = [programOf("examples/standalone/main.ts"), "--port", String(this.port), "--data-dir", this.dataDir, "--log-format", "json", ...this.options];
    const [program = "", ...rest] = [...this.within, process.execPath, ...args];
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...this.environment } });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void this.output.push(text));
    return child;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Resolves when it serves a state. */
  async start(): Promise<this> {
    const child = await this.spawn();
    const said = this.output.length;
    const serves = until(`${this.name} serves`, async () => {
      if (child.exitCode !== null) throw new Error(`${this.name} has ended`);
      return (await this.height()) > 0;
    });
    await serves.catch((error: unknown) => {
      throw new Error(`${messageOf(error)}; since its start it has said: ${this.output.slice(said).join("")}`, { cause: error });
    });
    return this;
  }

  end(signal: NodeJS.Signals): Promise<void> {
    return endProcess(this.child, signal);
  }

  /** Runs it until it ends by itself. Returns its exit code. */
  async run(): Promise<number | null> {
    const [code] = (await once(await this.spawn(), "close")) as [number | null];
    return code;
  }

  /** Stops it where it stands, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.child?.kill(signal);
  }

  private async blockchain(): Promise<{ block: { height: number; id: string }; digest?: string } | undefined> {
    try {
      const reply = await fetch(`${this.url}/blockchain`, { signal: AbortSignal.timeout(5_000) });
      return reply.ok ? ((await reply.json()) as { data: { block: { height: number; id: string }; digest?: string } }).data : undefined;
    } catch {
      return undefined;
    }
  }

  async height(): Promise<number> {
    return (await this.blockchain())?.block.height ?? 0;
  }

  /** Tip and digest, by which states are compared. */
  async state(): Promise<string> {
    return JSON.stringify(await this.blockchain());
  }
}
