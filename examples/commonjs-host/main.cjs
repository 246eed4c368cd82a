"use strict";

const { EventEmitter } = require("node:events");
const { testnet: network } = require("@arkecosystem/crypto/dist/networks"); // the presets alone, nothing that signs
const { createApiPlugin } = require("portico");

const chain = [network.genesisBlock]; // stands for the node's own database of blocks

const portico = createApiPlugin({
  network,
  events: new EventEmitter(),
  dataDir: "data/commonjs-host",
  blocks: { read: (from, limit) => chain.slice(from - 1, from - 1 + limit) },
});

// Opens a server of its own; a host that has one would mount `portico.callback()` instead.
portico.listen(Number(process.env.PORT ?? 4009)).then((server) => console.log("The node listens on", server.address()));
process.once("SIGINT", () => portico.stop());
