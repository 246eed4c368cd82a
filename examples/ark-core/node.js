"use strict";

const { Container } = require("@arkecosystem/core-kernel");

const { Identifiers } = Container;

const coreApi = "@arkecosystem/core-api";

/** The port of the node's own interface; undefined where it is not among the node's plugins, or off. */
const ownPort = (app) => {
  const plugins = app.get(Identifiers.ServiceProviderRepository);
  const http = plugins.has(coreApi) ? plugins.get(coreApi).config().all().server?.http : undefined;
  return http?.enabled ? Number(http.port) : undefined;
};

/**
 * What `node/configuration` reports about the node, from the settings of its other plugins. Where the node has no interface of its own,
 * `port`, that of Portico, is the port of the API.
 */
const describeNode = (app, port) => {
  const plugins = app.get(Identifiers.ServiceProviderRepository);
  const settingsOf = (plugin) => (plugins.has(plugin) ? plugins.get(plugin).config().all() : {});
  const p2p = settingsOf("@arkecosystem/core-p2p");
  const webhooks = settingsOf("@arkecosystem/core-webhooks");
  // Settings about folders and worker processes are not published.
  const { dynamicFees, maxTransactionsInPool, maxTransactionsPerSender, maxTransactionsPerRequest, maxTransactionAge, maxTransactionBytes } =
    settingsOf("@arkecosystem/core-transaction-pool");

  return {
    version: app.version(),
    ports: {
      "@arkecosystem/core-p2p": Number(p2p.server.port),
      [coreApi]: ownPort(app) ?? port,
      "@arkecosystem/core-webhooks": webhooks.enabled ? Number(webhooks.server.http.port) : null,
    },
    transactionPool: {
      dynamicFees,
      maxTransactionsInPool,
      maxTransactionsPerSender,
      maxTransactionsPerRequest,
      maxTransactionAge,
      maxTransactionBytes,
    },
  };
};

/** Converts a peer of the node. A peer whose interface is off reports -1 as that port, or no port. */
const describePeer = ({ ip, port, ports, version, state, latency }) => ({
  ip,
  port,
  ports,
  version,
  height: state.height ?? 0,
  status: 200,
  latency,
  isPublic: (ports["@arkecosystem/core-api"] ?? 0) > 0,
});

module.exports = { describeNode, describePeer, ownPort };
