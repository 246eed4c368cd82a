import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { BlockData } from "../../../types/events.js";

export interface NodeSettings {
  /** The folder of the node's installation. */
  installation: string;
  /** The folder with `config`, `data`, `cache`, `log` and `temp`. */
  folder: string;
  postgres: { port: number; user: string };
  ports: { p2p: number; api: number };
}

/** The real node, as a separate process. */
export interface NodeProcess {
  /** What it has printed. */
  readonly log: readonly string[];
  /** Resolves with the first matching line, including those printed before. */
  line(pattern: RegExp): Promise<string>;
  /** Makes it remove its last blocks. */
  removeBlocks(count: number): Promise<void>;
  /** Gives it blocks as if it had downloaded them from a peer. */
  enqueueBlocks(blocks: readonly BlockData[]): Promise<void>;
  /** The ports of its plugins, as a node that pings it on its port of peers notes them; -1 where none answers. */
  portsForPeers(port: number): Promise<Record<string, number>>;
  /** Height of the last block in its database, and the milliseconds of processor time that it has taken so far. */
  standing(): Promise<{ stored: number; spent: number }>;
  /** Ends it immediately, like a power cut. */
  kill(): Promise<void>;
  /** Lets it dispose of its plugins first. */
  terminate(): Promise<void>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const folders = ["config", "data", "cache", "log", "temp"];

const environment = ({ installation, folder, postgres, ports }: NodeSettings): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: folder,
  // As the node's command line sets it, for plugins with the node's own packages as peer dependencies.
  NODE_PATH: `${installation}/node_modules`,
  NODE_OPTIONS: `--require ${here("only-local.cjs")}`,
  ...Object.fromEntries(folders.map((name) => [`CORE_PATH_${name.toUpperCase()}`, `${folder}/${name}`])),
  CORE_LOG_LEVEL: "debug",
  CORE_LOG_LEVEL_FILE: "emergency",
  CORE_DB_HOST: "127.0.0.1",
  CORE_DB_PORT: String(postgres.port),
  CORE_DB_USERNAME: postgres.user,
  CORE_DB_DATABASE: "postgres",
  CORE_P2P_HOST: "127.0.0.1",
  CORE_P2P_PORT: String(ports.p2p),
  CORE_API_HOST: "127.0.0.1",
  CORE_API_PORT: String(ports.api),
  CORE_API_RATE_LIMIT_DISABLED: "true",
  CORE_API_NO_ESTIMATED_TOTAL_COUNT: "true",
});

/** Orders to the node's process (launch.cjs), each with its answer. */
const createOrders = (node: ChildProcess) => {
  const asked = new Map<number, (answer: unknown) => void>();
  let last = 0;
  node.on("message", (message: "booted" | { id: number; answer: unknown }) => {
    if (message === "booted") return;
    asked.get(message.id)?.(message.answer);
    asked.delete(message.id);
  });
  return (name: string, argument?: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      asked.set(++last, resolve);
      node.send({ id: last, name, argument });
    });
};

/** Resolves once the node has booted all its plugins. */
export const startNode = async (settings: NodeSettings): Promise<NodeProcess> => {
  const node = spawn(process.execPath, [here("launch.cjs")], {
    cwd: settings.installation,
    env: environment(settings),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const log: string[] = [];
  const waiting: { pattern: RegExp; found: (line: string) => void }[] = [];
  for (const stream of [node.stdout, node.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on("line", (line) => {
      log.push(line);
      for (const { pattern, found } of waiting) if (pattern.test(line)) found(line);
    });
  }
  const ended = once(node, "exit");
  const booted = new Promise<void>((resolve) => {
    node.on("message", (message) => {
      if (message === "booted") resolve();
    });
  });
  await Promise.race([
    booted,
    ended.then(([code]) => {
      throw new Error(`the node ended with ${String(code)}:\n${log.slice(-60).join("\n")}`);
    }),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    node.kill(signal);
    await ended;
  };
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((found) => {
      const known = log.find((printed) => pattern.test(printed));
      if (known === undefined) waiting.push({ pattern, found });
      else found(known);
    });
  const tell = createOrders(node);
  const removeBlocks = async (count: number): Promise<void> => void (await tell("removeBlocks", count));
  const enqueueBlocks = async (blocks: readonly BlockData[]): Promise<void> => void (await tell("enqueueBlocks", blocks));
  const portsForPeers = (port: number) => tell("portsForPeers", port) as Promise<Record<string, number>>;
  const standing = () => tell("standing") as ReturnType<NodeProcess["standing"]>;
  return { log, line, removeBlocks, enqueueBlocks, portsForPeers, standing, kill: () => end("SIGKILL"), terminate: () => end("SIGTERM") };
};
