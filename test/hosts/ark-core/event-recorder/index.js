"use strict";

const { appendFileSync } = require("node:fs");
const { Container, Providers } = require("@arkecosystem/core-kernel");

const { Identifiers } = Container;

/** Events that only concern the node's internals. */
const inner = /^(kernel|wallet\.property|schedule|queue|cache|crypto|database|state\.builder)\b/;

/** A plugin that records what the node's dispatcher dispatches, one JSON line each, and adds peers to the node. */
class ServiceProvider extends Providers.ServiceProvider {
  configDefaults() {
    return { file: "", peers: [] };
  }

  async register() {
    const { file } = this.config().all();
    this.app.get(Identifiers.EventDispatcherService).listen("*", {
      handle: ({ name, data }) => {
        if (!inner.test(name)) appendFileSync(file, `${JSON.stringify({ name, data: data ?? null, at: Date.now() })}\n`);
      },
    });
  }

  async boot() {
    for (const { ip, ...known } of this.config().all().peers) {
      const peer = this.app.get(Identifiers.PeerFactory)(ip);
      this.app.get(Identifiers.PeerRepository).setPeer(Object.assign(peer, known));
    }
  }
}

module.exports = { ServiceProvider };
