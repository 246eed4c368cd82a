import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request as ask, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import type { Page } from "playwright-core";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { ApiPlugin } from "../../types/plugin.js";
import type { BlockData } from "../../types/events.js";
import { onlyWithChromium, openPage } from "../fixtures/chromium.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { blockData, genesis, network } from "../follow/schedule.js";
import { until } from "../fixtures/until.js";
import { silentLogger } from "../silent.js";

/** A page of another origin that keeps the ids of the chain's blocks by what it is told, and what makes no sense of that. */
const pageOf = (api: string): string => `<!doctype html><script>
  const blocks = [], faults = [];
  let opened = 0, failures = 0;
  const source = new EventSource("${api}/events?event=block.*&after=genesis");
  source.onopen = () => opened++;
  source.onerror = () => failures++;
  source.addEventListener("block.applied", ({ data }) => {
    const { data: block } = JSON.parse(data);
    if ((blocks.at(-1) ?? null) !== block.previousBlock) faults.push(block.id + " applied on " + blocks.at(-1));
    blocks.push(block.id);
  });
  source.addEventListener("block.reverted", ({ data }) => {
    const { data: block } = JSON.parse(data);
    if (blocks.pop() !== block.id) faults.push(block.id + " reverted");
  });
</script>`;

describe("The event stream, in Chromium's own EventSource", () => {
  onlyWithChromium("the stream is");
  let dataDir = "";
  let view: Page | undefined;
  let site: Server | undefined;
  let proxy: Server | undefined;
  let plugin: ApiPlugin | undefined;
  let events: EventEmitter;
  let blocks: BlockData[] = [genesis];

  const serve = async (port: number): Promise<number> => {
    events = new EventEmitter();
    plugin = createApiPlugin({ network, events, dataDir, blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) }, logger: silentLogger, options: { rateLimit: false, webhooks: false } });
    const server = await plugin.listen(port, "127.0.0.1");
    return (server.address() as AddressInfo).port;
  };
  /** A server before the node: Chromium would come again after three seconds. Without a port it cuts connections, as where a node is away. */
  const relay = (port: number | undefined, path: string | undefined, headers: IncomingHttpHeaders, response: ServerResponse): void => {
    if (port === undefined) return void response.destroy();
    const onward = ask({ port, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers).write("retry: 20\n");
      reply.pipe(response);
    });
    onward.on("error", () => response.destroy()).end();
    response.on("close", () => onward.destroy());
  };
  const apply = (branch: string, count: number): void => {
    for (let i = 0; i < count; i++) {
      const tip = blocks.at(-1) ?? genesis;
      const block = blockData(`${branch} ${tip.height + 1}`, tip.height + 1, tip.id, []);
      blocks = [...blocks, block];
      events.emit("block.applied", block);
    }
  };
  const revert = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const last = blocks.at(-1);
      blocks = blocks.slice(0, -1);
      events.emit("block.reverted", last);
    }
  };

  before(() => {
    dataDir = temporaryFolder();
  });
  after(async () => {
    await view?.close();
    site?.close();
    proxy?.close();
    await plugin?.stop();
  });

  it("tells a page of another origin of the chain through a reorganisation, and of what it missed while the node was away", async () => {
    let port: number | undefined = await serve(0);
    apply("one", 6);
    proxy = createServer(({ url, headers }, response) => relay(port, url, headers, response)).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api`;
    site = createServer((_request, response) => response.setHeader("Content-Type", "text/html").end(pageOf(api))).listen(0, "127.0.0.1");
    await once(site, "listening");
    const page = (view = await openPage());
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const told = () => page.evaluate<{ blocks: string[]; faults: string[]; opened: number }>("({ blocks, faults, opened })");
    const isThere = async (): Promise<true | undefined> => {
      const found = await told();
      return found.faults.length > 0 || found.blocks.at(-1) === blocks.at(-1)?.id ? true : undefined;
    };
    await until(isThere);
    revert(4);
    apply("two", 5);
    await until(isThere);
    expect(await told()).to.deep.equal({ blocks: blocks.map(({ id }) => id), faults: [], opened: 1 });

    // The node goes back and on before the page is there again: its Last-Event-ID names a block that is no longer on the chain.
    port = undefined;
    await plugin?.stop();
    const again = await serve(0);
    revert(2);
    apply("three", 4);
    await plugin?.settled();
    port = again;
    await until(isThere);
    expect(await told()).to.deep.equal({ blocks: blocks.map(({ id }) => id), faults: [], opened: 2 });
  });

  it("is opened again after a restart, though the node was still answering another request when the page tried first", async () => {
    await plugin?.stop();
    await view?.close();
    blocks = [genesis];
    const port = await serve(0);
    const other = connect(port, "127.0.0.1");
    site?.close();
    site = createServer((_request, response) => response.setHeader("Content-Type", "text/html").end(pageOf(`http://127.0.0.1:${port}/api`))).listen(0, "127.0.0.1");
    await once(site, "listening");
    const page = (view = await openPage());
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.waitForFunction("opened === 1");
    other.write("POST /api/transactions/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{");
    // The node has read it once another client has been answered.
    await fetch(`http://127.0.0.1:${port}/api/health`).then((reply) => reply.text());
    const stopped = plugin?.stop();
    // The end of the stream, and the attempt after that.
    await page.waitForFunction("failures >= 2");
    expect(await page.evaluate("source.readyState"), "it goes on trying").to.equal(0);
    other.end("}");
    await stopped;
    await serve(port);
    await page.waitForFunction("opened === 2");
  });
});
