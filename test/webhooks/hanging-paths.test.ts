import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createPlain, type RequestListener, type Server } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { ApiPlugin } from "../../types/plugin.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { webhookOptions } from "../e2e/reader-options.js";
import { createCertificate } from "../fixtures/certificate.js";
import { genesis, network } from "../follow/schedule.js";
import { silentLogger } from "../silent.js";
import { closeTemporaryStores, temporaryFolder } from "../store/temporary-store.js";
import { closeServer, readBody } from "./receiver.js";
import { eventually } from "./stage.js";

const servers: Record<string, (listener: RequestListener) => Server> = {
  http: createPlain,
  https: (listener) => {
    const { certificate, key } = createCertificate(["127.0.0.1"]);
    return createSecure({ cert: readFileSync(certificate), key: readFileSync(key) }, listener);
  },
};

describe("a path of an origin, where other paths hang", () => {
  const trust = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  const events = new EventEmitter();
  let server: Server;
  let node: ApiPlugin;
  let url: string;
  /** Requests that hang, and those of them that have ended. */
  let [hanging, ended] = [0, 0];
  let arrived: number[];

  const begin = async (scheme: string, options: WebhookOptions = {}): Promise<void> => {
    [hanging, ended, arrived] = [0, 0, []];
    server = servers[scheme]!((request, response) => {
      if (request.url !== "/healthy") {
        hanging++;
        response.on("close", () => ended++);
        return;
      }
      void readBody(request).then((body) => {
        arrived.push((JSON.parse(body) as { data: { n: number } }).data.n);
        response.end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Nobody else trusts the certificate.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    node = createApiPlugin({ network, events, dataDir: temporaryFolder(), blocks: { read: (from) => (from === 1 ? [genesis] : []) }, logger: silentLogger, options: { webhooks: { ...webhookOptions, ...options } } });
    await node.start();
  };
  afterEach(async () => {
    await node.stop();
    if (trust === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = trust;
    await closeServer(server);
    await closeTemporaryStores();
  });
  const hook = (path: string): void => void node.webhooks?.create({ event: "peer.added", target: `${url}${path}` });

  for (const scheme of Object.keys(servers)) {
    for (const paths of [4, 60]) {
      it(`gets all that it is sent while ${paths} of them hang (${scheme})`, async () => {
        await begin(scheme);
        for (let path = 0; path < paths; path++) hook(`/${path}`);
        hook("/healthy");
        const all = Array.from({ length: 20 }, (_, n) => n);
        for (const n of all) events.emit("peer.added", { n });
        await eventually(() => (arrived.length === all.length && hanging === paths ? true : undefined));
        expect(arrived).to.deep.equal(all);
        expect(ended, "that hang, and have ended").to.equal(0);
      });
    }
  }
});
