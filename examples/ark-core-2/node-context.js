// @ts-check
"use strict";

const { join } = require("node:path");

/**
 * The port of a plugin, or null if it is off. The 2.x versions keep it in different places.
 * @param {import("./core-2").Container} container
 * @param {"p2p" | "api"} plugin
 */
const portOf = (container, plugin) => {
  if (!container.has(plugin)) return null;
  const { enabled = true, server, http, port } = container.resolveOptions(plugin);
  const found = server?.port ?? http?.port ?? port;
  // A port from the environment is text.
  return enabled && found !== undefined ? Number(found) : null;
};

/**
 * What Portico needs from a node, taken from the node's container. Plugins are resolved when needed, since some are registered after
 * this one.
 * @param {import("./core-2").Container} container
 * @param {import("./core-2").Options} options
 * @returns {import("portico").NodeContext & { logger: import("portico").Logger }}
 */
const nodeContext = (container, { dataDir, options }) => {
  const config = container.getConfig();
  const log = container.resolvePlugin("logger");
  const blockchain = () => container.resolvePlugin("blockchain");
  const p2p = () => container.resolvePlugin("p2p");
  const pool = () => container.resolvePlugin("transaction-pool");

  return {
    network: {
      network: config.get("network"),
      milestones: config.get("milestones"),
      exceptions: config.get("exceptions"),
      genesisBlock: config.get("genesisBlock"),
    },
    events: container.resolvePlugin("event-emitter"),
    dataDir: dataDir ?? join(process.env["CORE_PATH_DATA"] ?? "data", "portico"),
    blocks: {
      // Returns blocks with their transactions, from the node's memory or its database.
      read: (fromHeight, limit) => container.resolvePlugin("database").getBlocks(fromHeight, limit),
      height: () => blockchain().getLastHeight(),
    },
    peers: {
      list: () =>
        p2p()
          .getStorage()
          .getPeers()
          .map(({ ip, port, version, os = "unknown", latency, state: { height = 0 } }) => ({ ip, port, version, os, latency, height, status: 200 })),
    },
    sync: {
      // A node without peers reports 0 as the height of its network.
      networkHeight: () => p2p().getMonitor().getNetworkHeight() || blockchain().getLastHeight(),
      synced: () => blockchain().isSynced(),
    },
    pool: {
      list: async () => {
        const ids = await pool().getTransactionIdsForForging(0, await pool().getPoolSize());
        const all = await Promise.all(ids.map((id) => pool().getTransaction(id)));
        // A transaction may have been forged meanwhile.
        return all.flatMap((transaction) => (transaction === undefined ? [] : [transaction.data]));
      },
      get: async (id) => (await pool().getTransaction(id))?.data,
      submit: async (transactions) => {
        const processor = pool().makeProcessor();
        const { errors, ...result } = await processor.validate(transactions);
        if (result.broadcast.length > 0) await p2p().getMonitor().broadcastTransactions(processor.getBroadcastTransactions());
        return { ...result, errors: errors ?? {} };
      },
    },
    node: {
      version: container.getVersion(),
      ports: { "@arkecosystem/core-p2p": portOf(container, "p2p"), "@arkecosystem/core-api": portOf(container, "api") },
      transactionPool: { dynamicFees: container.resolveOptions("transaction-pool").dynamicFees },
    },
    logger: {
      debug: (message) => log.debug(`Portico: ${message}`),
      info: (message) => log.info(`Portico: ${message}`),
      warn: (message) => log.warn(`Portico: ${message}`),
      error: (message) => log.error(`Portico: ${message}`),
    },
    options,
  };
};

module.exports = { nodeContext };
