import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "portico";
import { loadChain } from "../data/read.js";

/** A host that uses everything, stops, and does not call process.exit: a handle left open would keep it running. */
const { network, blocks } = loadChain("core3-testnet-a");
const events = new EventEmitter();

/** Node's own handler of "exit", present while a module awaits something at its top level. */
const isOfNode = (listener: { name: string }): boolean => listener.name === "handleProcessExit";

/** Handles and handlers that this process has now. The pipes of its output and its own program's immediates come and go. */
const surroundings = () => ({
  resources: process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap" && name !== "Immediate"),
  listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listeners(name as "exit").filter((listener) => !isOfNode(listener)).length])),
});
const before = surroundings();
const tell = (what: string): void => {
  const now = surroundings();
  const resources = [...now.resources];
  for (const name of before.resources) {
    const index = resources.indexOf(name);
    if (index !== -1) resources.splice(index, 1);
  }
  const listeners = Object.fromEntries(
    Object.entries(now.listeners)
      .map(([name, count]) => [name, count - (before.listeners[name] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );
  console.log(`${what} ${JSON.stringify({ resources, listeners })}`);
};

const portico = createApiPlugin({
  network,
  events,
  dataDir: "data",
  blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(from - 1 + limit, 60)) },
  options: { webhooks: { allowTargets: ["127.0.0.1"] } },
});

portico.callback();
tell("made");

const serve = async (): Promise<void> => {
  const receiver = createServer((request, response) => void request.resume().on("end", () => response.end())).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const server = await portico.listen(0);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const failing = { event: "block.applied", target: "http://127.0.0.1:1/" };
  portico.webhooks?.create({ event: "block.applied", target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });
  portico.webhooks?.create(failing);
  events.emit("block.applied", blocks[60]);
  await portico.settled();
  // Keep-alive connections, left idle.
  for (const path of ["/node/status", "/wallets", "/transactions?limit=2", "/v1/delegates"]) {
    const response = await fetch(`${url}${path}`);
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    await response.text();
  }
  await portico.stop();
  receiver.close().closeAllConnections();
};

const when = process.env.WHEN;
if (when === "served") await serve();
if (when === "started") await portico.start();
await portico.stop();

process.once("beforeExit", () => tell("left"));
