"use strict";

const { EventEmitter } = require("node:events");
const { Container, Providers } = require("@arkecosystem/core-kernel");
const { createApiPlugin } = require("portico");
const { readBlocks, readHeight } = require("./history.js");
const { announceAsApi, describeNode, describePeer, ownPort, withTransactions } = require("./node.js");

const { Identifiers } = Container;

/** Milliseconds between two lines of the log about a catch-up that takes longer. */
const toldEvery = 30_000;

/** Logs a catch-up when it is at its end, and now and then until there. */
const createProgressLog = (log) => {
  let toldAt = Date.now();
  return ({ tip, target, blocksPerSecond }) => {
    if (tip.height !== target && Date.now() - toldAt < toldEvery) return;
    toldAt = Date.now();
    log.info(`Portico: block ${tip.height} of ${target ?? "?"}, ${Math.round(blocksPerSecond)} a second`);
  };
};

/** What is outside the interface: peers look at `/` to see whether a port answers. */
const answerOutside = ({ url }, response) => void response.writeHead(url === "/" ? 200 : 404).end();

/** Portico as a plugin of an ARK Core 3 node, in the node's process and beside the node's own interface. */
class ServiceProvider extends Providers.ServiceProvider {
  configDefaults() {
    return { host: "127.0.0.1", port: 4103, dataDir: this.app.dataPath("portico"), options: {} };
  }

  async register() {
    const { app } = this;
    const log = app.get(Identifiers.LogService);
    const config = this.config().all();
    if (ownPort(app) === undefined) announceAsApi(app, this);

    // One listener passes on every event of the node; Portico subscribes to those that it needs.
    this.events = new EventEmitter().setMaxListeners(0);
    this.forget = app.get(Identifiers.EventDispatcherService).listen("*", {
      handle: ({ name, data }) => void this.events.emit(name, name === "block.applied" ? withTransactions(app, data) : data),
    });

    // Resolved when needed, since a service may be bound by a plugin that is registered after this one.
    const blockchain = () => app.get(Identifiers.BlockchainService);
    const peers = () => app.get(Identifiers.PeerRepository).getPeers();
    const pool = () => app.get(Identifiers.TransactionPoolQuery).getFromHighestPriority();
    const history = () => app.getTagged(Identifiers.BlockHistoryService, "connection", "api");

    this.portico = createApiPlugin({
      network: app.get(Identifiers.Crypto),
      events: this.events,
      dataDir: config.dataDir,
      blocks: {
        read: (fromHeight, limit) => readBlocks(history(), fromHeight, limit),
        height: () => readHeight(history()),
      },
      peers: { list: () => peers().map(describePeer) },
      sync: {
        // A node without peers reports 0 as the height of its network.
        networkHeight: () => app.get(Identifiers.PeerNetworkMonitor).getNetworkHeight() || blockchain().getLastHeight(),
        synced: () => blockchain().isSynced(),
      },
      pool: {
        list: () => [...pool()].map(({ data }) => data),
        get: (id) => [...pool().whereId(id)][0]?.data,
        submit: async (transactions) => {
          const { errors = {}, ...result } = await app.get(Identifiers.TransactionPoolProcessor).process(transactions);
          return { ...result, errors: Object.fromEntries(Object.entries(errors).map(([id, error]) => [id, [error]])) };
        },
      },
      node: describeNode(app, Number(config.port)),
      logger: {
        debug: (message) => log.debug(`Portico: ${message}`),
        info: (message) => log.info(`Portico: ${message}`),
        warn: (message) => log.warning(`Portico: ${message}`),
        error: (message) => log.error(`Portico: ${message}`),
      },
      onProgress: createProgressLog(log),
      options: config.options,
    });
  }

  async boot() {
    const { host, port, options } = this.config().all();
    const log = this.app.get(Identifiers.LogService);
    if (ownPort(this.app) === Number(port)) {
      log.error(`Portico: not started: port ${port} is that of @arkecosystem/core-api, too. Give one of them another port, or remove core-api from app.json.`);
      return;
    }
    // Not awaited: reading a long chain for the first time takes a while, and the node must go on forging.
    this.portico.listen(port, host, answerOutside).then(
      () => log.info(`Portico: listening on http://${host}:${port}${options.basePath ?? "/api"}`),
      (error) => log.error(`Portico: cannot start: ${error.message}`),
    );
  }

  async dispose() {
    await this.portico.stop();
    this.forget();
  }
}

module.exports = { ServiceProvider };
