// @ts-check
"use strict";

const { createApiPlugin } = require("portico");
const { nodeContext } = require("./node-context.js");

/** @typedef {import("./core-2").Container} Container */
/** @typedef {import("./core-2").Options} Options */

/** Portico as a plugin of ARK Core's second line: in the node's process, beside its own interface. */
const plugin = {
  pkg: require("./package.json"),
  /** @type {Options} */
  defaults: { enabled: true, host: "127.0.0.1", port: 4103, options: {} },
  alias: "portico",

  /**
   * What it resolves with is what `container.resolvePlugin("portico")` gives to others.
   * @param {Container} container
   * @param {Options} options
   */
  register: async (container, options) => {
    if (!options.enabled) return undefined;
    const { logger, ...context } = nodeContext(container, options);
    const portico = createApiPlugin({ ...context, logger });
    // Not awaited: the first reading of a long chain takes its time, and the node has blocks to forge meanwhile.
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
