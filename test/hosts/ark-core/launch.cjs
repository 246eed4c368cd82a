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

const { Identifiers } = Container;

/** What the check may tell the node to do. */
const ordersOf = (app) => ({
  /** Removes its last blocks, as the node does itself when it finds that it is on a fork. */
  removeBlocks: (count) => app.get(Identifiers.BlockchainService).removeBlocks(count),
  /** Takes blocks as it takes those that it has downloaded from a peer. */
  enqueueBlocks: (blocks) => void app.get(Identifiers.BlockchainService).enqueueBlocks(blocks),
  /** What a node that pings this one on its port of peers notes of its plugins' ports. */
  portsForPeers: async (port) => {
    const peer = app.get(Identifiers.PeerFactory)("127.0.0.1");
    Object.assign(peer, { port });
    const communicator = app.get(Identifiers.PeerCommunicator);
    await communicator.ping(peer, 5_000, true);
    await communicator.pingPorts(peer);
    return peer.ports;
  },
  /** The last block that its database has, and the processor time that its process has taken, in milliseconds. */
  standing: () => {
    const { user, system } = process.cpuUsage();
    return { stored: app.get(Identifiers.StateStore).getLastStoredBlockHeight(), spent: (user + system) / 1_000 };
  },
});

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
    const orders = ordersOf(app);
    process.on("message", async ({ id, name, argument }) => process.send?.({ id, answer: await orders[name](argument) }));
    process.send?.("booted");
    process.once("SIGTERM", () => void app.terminate("Told to stop").then(() => process.exit(0)));
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
