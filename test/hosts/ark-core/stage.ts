import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Network } from "../../../types/node-context.js";
import { freePort } from "../../free-port.js";
import { createInbox, type Inbox } from "./inbox.js";
import { installNode } from "./installation.js";
import { configureNode, installPlugins, type PluginEntry } from "./node-folder.js";
import { type NodeProcess, startNode } from "./node-process.js";
import { startPostgres } from "../../fixtures/postgres.js";
import { type Answer, type Served, servedOn } from "./served.js";

export interface Dispatched {
  name: string;
  data: unknown;
  /** In milliseconds since 1970. */
  at: number;
}

/** How to start the node. */
export interface Orders {
  /** The passphrases of the delegates that it forges for. */
  forging: string[];
  /** The peers that it is made to know. */
  peers?: unknown[];
  /** Whether a second Portico runs beside the first. */
  twice?: boolean;
  /** Whether the node has its own interface; default true. */
  ownInterface?: boolean;
  /** Where the first Portico listens; default a port of its own. False: there is none. */
  porticoPort?: number | false;
}

/** A real node with a database of its own, Portico inside it, and a receiver of its webhooks. */
export interface Stage {
  /** Of all delegates in the genesis block. */
  readonly secrets: string[];
  readonly ports: Readonly<Record<"p2p" | "api" | "portico" | "again", number>>;
  readonly inbox: Inbox;
  /** The node's own interface, Portico's, and that of the second Portico. */
  readonly node: Served;
  readonly portico: Served;
  readonly again: Served;
  /** Resolves once the node has booted and Portico listens, or has said why it does not. */
  start(orders: Orders): Promise<void>;
  running(): NodeProcess;
  log(): readonly string[];
  /** Sends a request to Portico's webhook routes, with the token. */
  ask(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer>;
  /** Everything that the node's dispatcher has dispatched, in all runs. */
  dispatched(): Dispatched[];
  close(): Promise<void>;
}

const token = "a-token-of-this-check";

/** A failed delivery is retried every second, for longer than any target here is down. */
const schedule = Array.from({ length: 120 }, () => 1_000);

/** Installs and starts everything except the node. */
export const createStage = async (network: Network): Promise<Stage> => {
  const installation = installNode();
  const delegates = join(installation, "node_modules/@arkecosystem/core/bin/config/testnet/delegates.json");
  const { secrets } = JSON.parse(readFileSync(delegates, "utf8")) as { secrets: string[] };
  const folder = mkdtempSync(join(tmpdir(), "portico-ark-core-"));
  installPlugins(folder);
  const postgres = await startPostgres();
  const inbox = await createInbox();
  const ports = { p2p: await freePort(), api: await freePort(), portico: await freePort(), again: await freePort() };
  const eventFile = join(folder, "events.ndjson");
  const portico = servedOn(ports.portico);
  let node: NodeProcess | undefined;

  const plugin = (name: string, port: number): PluginEntry => ({
    package: name,
    options: { port, dataDir: join(folder, name), options: { webhooks: { tokens: [token], allowTargets: ["127.0.0.1"], schedule } } },
  });
  const listening = (running: NodeProcess, port: number): Promise<string> =>
    running.line(new RegExp(`Portico: (listening on http://127.0.0.1:${port}/api|not started)`));

  return {
    secrets,
    ports,
    inbox,
    node: servedOn(ports.api),
    portico,
    again: servedOn(ports.again),
    start: async ({ forging, peers = [], twice = false, ownInterface = true, porticoPort = ports.portico }) => {
      const plugins: PluginEntry[] = [{ package: "event-recorder", options: { file: eventFile, peers } }];
      if (porticoPort !== false) plugins.push(plugin("portico-ark-core", porticoPort));
      if (twice) plugins.push(plugin("portico-ark-core-again", ports.again));
      configureNode(folder, { network, p2pPort: ports.p2p, secrets: forging, ownInterface, plugins });
      const running = await startNode({ installation, folder, postgres, ports });
      node = running;
      await Promise.all([...(porticoPort === false ? [] : [listening(running, porticoPort)]), ...(twice ? [listening(running, ports.again)] : [])]);
    },
    running: () => {
      if (node === undefined) throw new Error("the node has not been started");
      return node;
    },
    log: () => node?.log ?? [],
    ask: (method, path, body) => portico.send(method, path, body, { authorization: token }),
    dispatched: () => readFileSync(eventFile, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as Dispatched),
    close: async () => {
      await node?.kill();
      await inbox.close();
      await postgres.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
