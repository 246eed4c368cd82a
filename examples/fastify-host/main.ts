import { EventEmitter } from "eventemitter3";
import Fastify from "fastify";
import { createApiPlugin } from "portico";
import { readNetwork } from "../standalone/chain/network.js";

const network = readNetwork("local");
const chain = [network.genesisBlock]; // stands for the node's own database of blocks

const portico = createApiPlugin({
  network,
  events: new EventEmitter(),
  dataDir: "data/fastify-host",
  blocks: { read: (from, limit) => chain.slice(from - 1, from - 1 + limit) },
});

const app = Fastify();
const serve = portico.callback();
// Answers requests under /api before Fastify routes them or reads their bodies; all others go on to Fastify.
app.addHook("onRequest", (request, reply, next) => serve(request.raw, reply.raw, next));
app.get("/", () => "The node's own pages");
app.post("/echo", (request) => request.body);
app.addHook("onReady", () => portico.start());
app.addHook("preClose", () => portico.stop()); // before the server closes: event streams would keep it open

await app.listen({ port: Number(process.env.PORT ?? 4007), host: "127.0.0.1" });
console.log("The node listens on", app.server.address());
process.once("SIGINT", () => void app.close());
