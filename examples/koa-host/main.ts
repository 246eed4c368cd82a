import { EventEmitter } from "eventemitter3";
import Koa from "koa";
import { createApiPlugin } from "portico";
import { readNetwork } from "../standalone/chain/network.js";

const network = readNetwork("local"); // parameters, milestones, exceptions, genesis block
const events = new EventEmitter(); // the node emits "block.applied" and "block.reverted" on it
const chain = [network.genesisBlock]; // stands for the node's own database of blocks
const blocks = { read: (from = 1, limit = 100) => chain.slice(from - 1, from - 1 + limit) };
const portico = createApiPlugin({ network, events, blocks, dataDir: "data/koa-host" });
const app = new Koa();
portico.mount(app); // answers what lies under /api
app.use((ctx) => (ctx.body = "The node's own pages"));

await portico.start();
const server = app.listen(Number(process.env.PORT ?? 4004), "127.0.0.1");
server.on("listening", () => console.log("The node listens on", server.address()));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void portico.stop().then(() => process.exit()));
