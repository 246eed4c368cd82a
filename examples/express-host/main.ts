import { EventEmitter } from "eventemitter3";
import express from "express";
import { createApiPlugin } from "portico";
import { readNetwork } from "../standalone/chain/network.js";

const network = readNetwork("local");
const chain = [network.genesisBlock]; // stands for the node's own database of blocks

const portico = createApiPlugin({
  network,
  events: new EventEmitter(),
  dataDir: "data/express-host",
  blocks: { read: (from, limit) => chain.slice(from - 1, from - 1 + limit) },
});

const app = express();
app.use(portico.callback()); // answers requests under /api; before express.json(), which would round large numbers in bodies
app.use(express.json());
app.get("/", (_request, response) => void response.send("The node's own pages"));
app.post("/echo", (request, response) => void response.json(request.body));

await portico.start();
const server = app.listen(Number(process.env.PORT ?? 4006), "127.0.0.1", () => console.log("The node listens on", server.address()));
process.once("SIGINT", () => {
  server.close();
  void portico.stop(); // ends event streams, which would keep the server open
});
