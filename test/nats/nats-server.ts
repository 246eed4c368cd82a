import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { endProcess } from "../fixtures/end-process.js";
import { freePort } from "../free-port.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";

export const hasNats = (): boolean => spawnSync("nats-server", ["--version"]).error === undefined;

/** A NATS server with JetStream, which can be killed, and whose store can be deleted. */
export class NatsServer {
  private readonly folder = temporaryFolder();
  private child: ChildProcess | undefined;
  private readonly configuration: string;
  port = 0;

  /** `configuration`: what its file says besides. */
  constructor(configuration = "") {
    this.configuration = configuration;
    atEndOfTest(() => this.kill());
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  private get store(): string {
    return join(this.folder, "store");
  }

  async start(): Promise<this> {
    if (this.port === 0) this.port = await freePort();
    mkdirSync(this.store, { recursive: true });
    const file = join(this.folder, "nats.conf");
    writeFileSync(file, this.configuration);
    this.child = spawn("nats-server", ["-a", "127.0.0.1", "-p", String(this.port), "-js", "-sd", this.store, "-c", file], { stdio: "ignore" });
    await until("the NATS server", () => new Promise<boolean>((resolve) => {
      const socket = createConnection(this.port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
    }));
    return this;
  }

  async kill(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    await endProcess(child, "SIGKILL");
  }

  /** A cluster, whose servers are all there. */
  static async cluster(size: number): Promise<NatsServer[]> {
    const routes: number[] = [];
    for (let server = 0; server < size; server++) routes.push(await freePort());
    const all = routes.map((route, place) => {
      const others = routes.map((port) => `nats-route://127.0.0.1:${port}`).join(", ");
      return new NatsServer(`server_name: s${place}\ncluster { name: c, listen: "127.0.0.1:${route}", routes: [${others}] }`);
    });
    await Promise.all(all.map((server) => server.start()));
    return all;
  }

  /** Killed, and all that it stored is lost. */
  async lose(): Promise<void> {
    await this.kill();
    rmSync(this.store, { recursive: true, force: true });
  }
}
