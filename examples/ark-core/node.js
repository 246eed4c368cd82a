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

/**
 * Makes the node tell its peers of this plugin's port as that of the API. It tells them the ports of the plugins that its configuration
 * lists, under the packages' names: so this plugin gets another entry there, and the other name.
 */
const announceAsApi = (app, plugin) => {
  const config = app.get(Identifiers.ConfigRepository);
  const listed = config.get("app.plugins");
  // Another instance of it may have the name.
  if (listed.some((entry) => entry.package === coreApi)) return;
  app.get(Identifiers.ServiceProviderRepository).alias(plugin.name(), coreApi);
  plugin.config().set("server.http.port", Number(plugin.config().get("port")));
  config.set("app.plugins", [...listed, { package: coreApi }]);
};

/**
 * A block as the node dispatches it, with its transactions, which its database has only later: the node still holds the block that it has
 * just applied. Without them, Portico reads the block from the database.
 */
const withTransactions = (app, data) => {
  const last = app.get(Identifiers.StateStore).getLastBlock();
  return last.data.id === data.id ? { ...data, transactions: last.transactions.map((transaction) => transaction.data) } : data;
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

module.exports = { announceAsApi, describeNode, describePeer, ownPort, withTransactions };
