// @ts-check
"use strict";

const { createApiPlugin } = require("portico");
const { nodeContext } = require("./node-context.js");

/** @typedef {import("./core-2").Container} Container */
/** @typedef {import("./core-2").Options} Options */

/** Portico as a plugin of an ARK Core 2 node, in the node's process and beside the node's own interface. */
const plugin = {
  pkg: require("./package.json"),
  /** @type {Options} */
  defaults: { enabled: true, host: "127.0.0.1", port: 4103, options: {} },
  alias: "portico",

  /**
   * Resolves to what `container.resolvePlugin("portico")` returns to others.
   * @param {Container} container
   * @param {Options} options
   */
  register: async (container, options) => {
    if (!options.enabled) return undefined;
    const { logger, ...context } = nodeContext(container, options);
    const portico = createApiPlugin({ ...context, logger });
    // Not awaited: reading a long chain for the first time takes a while, and the node must go on forging.
    portico.listen(options.port, options.host).then(
      () => logger.info(`listening on http://${options.host}:${options.port}${options.options.basePath ?? "/api"}`),
      (error) => logger.error(`cannot start: ${error.message}`),
    );
    return portico;
  },

  /** @param {Container} container */
  deregister: async (container) => {
    await container.resolvePlugin("portico")?.stop();
  },
};

module.exports = { plugin };
