/** A host that serves the store of another process: `DATA_DIR=... CHAIN=... node reader-process.ts`. It prints its address, then starts. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiPlugin } from "../../src/index.js";
import { type ChainName, loadChain } from "../data/read.js";
import { webhookOptions } from "./reader-options.js";

const { network } = loadChain(process.env["CHAIN"] as ChainName);
const plugin = createApiPlugin({ reader: true, network, dataDir: process.env["DATA_DIR"] ?? "", options: { webhooks: webhookOptions } });
const server = createServer(plugin.callback());
server.listen(0, "127.0.0.1", () => console.log(`listens at http://127.0.0.1:${(server.address() as AddressInfo).port}/api`));
process.once("SIGTERM", () => {
  server.close();
  void plugin.stop();
});
try {
  await plugin.start();
  console.log("started");
} catch (error) {
  console.log(`cannot start: ${String(error)}`);
  server.close();
}
