import { createServer } from "node:http";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "portico";
import { readNetwork } from "../standalone/chain/network.js";

const network = readNetwork("local");
const chain = [network.genesisBlock]; // stands for the node's own database of blocks

const portico = createApiPlugin({
  network,
  events: new EventEmitter(),
  dataDir: "data/http-host",
  blocks: { read: (from, limit) => chain.slice(from - 1, from - 1 + limit) },
});

const serve = portico.callback();
const server = createServer((request, response) => {
  serve(request, response, () => void response.writeHead(request.url === "/" ? 200 : 404).end("The node's own pages"));
});

await portico.start();
server.listen(Number(process.env.PORT ?? 4008), "127.0.0.1", () => console.log("The node listens on", server.address()));
process.once("SIGINT", () => {
  server.close();
  void portico.stop(); // ends event streams, which would keep the server open
});
