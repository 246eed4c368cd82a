// Starts the node as its command `core:run` does, but without checking the package registry for updates.
// Run in the folder of the node's installation, with the node's settings in the environment.
"use strict";

const { createRequire } = require("node:module");
const { join } = require("node:path");

const require_ = createRequire(join(process.cwd(), "package.json"));
const { Utils } = require_("@arkecosystem/core-cli");
const { Container } = require_("@arkecosystem/core-kernel");

const flags = {
  token: "ark",
  network: "testnet",
  env: "test",
  networkStart: true,
  disableDiscovery: true,
  skipDiscovery: true,
  ignoreMinimumNetworkReach: true,
  processType: "core",
};

// Must not outlive a check that was cut short.
process.once("disconnect", () => process.exit(1));

Utils.buildApplication({
  flags,
  plugins: {
    "@arkecosystem/core-p2p": Utils.buildPeerFlags(flags),
    "@arkecosystem/core-blockchain": { networkStart: flags.networkStart },
    "@arkecosystem/core-forger": {},
  },
}).then(
  (app) => {
    // Removes its last blocks, as the node does itself when it finds that it is on a fork.
    process.on("message", ({ removeBlocks }) => void app.get(Container.Identifiers.BlockchainService).removeBlocks(removeBlocks));
    process.send?.("booted");
    process.once("SIGTERM", () => void app.terminate("Told to stop").then(() => process.exit(0)));
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
