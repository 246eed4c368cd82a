import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "portico";
import { makeFolder } from "../../src/files/make-folder.js";
import { lockFolder } from "../standalone/files/folder-lock.js";
import { createForkNetwork } from "./network.js";
import { createForkNode } from "./node.js";
import { split } from "./split.js";
import { createSqliteChain } from "./store/sqlite-chain.js";

const dataDir = "data/custom-fork";
makeFolder(dataDir);
const lock = await lockFolder(dataDir);

const network = createForkNetwork();
const transactionTypes = [split];
const events = new EventEmitter();

const chain = createSqliteChain({ path: join(dataDir, "chain.sqlite"), network, transactionTypes });
await chain.start();
if (chain.tip() === undefined) chain.apply(network.genesisBlock);
const node = createForkNode({ network, chain, events });

const portico = createApiPlugin({ network, transactionTypes, events, chain, dataDir });
const server = await portico.listen(Number(process.env.PORT ?? 4005));
console.log(`The fork ${network.network.name} is served at http://127.0.0.1:${(server.address() as AddressInfo).port}/api`);

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stopping.abort());
try {
  for await (const _ of setInterval(Number(process.env.FORGE_INTERVAL ?? 2_000), undefined, { signal: stopping.signal })) await node.forge();
} catch (error) {
  if (!stopping.signal.aborted) throw error;
} finally {
  await portico.stop(); // closes the store too
  await lock.release();
}
