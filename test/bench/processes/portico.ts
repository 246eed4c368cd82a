/** The process that serves: Portico on the store of a size, and what has to be measured from within. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import Koa from "koa";
import { createApiPlugin } from "../../../src/plugin.js";
import type { ApiPlugin } from "../../../types/node-context.js";
import { createBenchChain } from "../chain/chain.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { measureDepth, type DepthInput } from "../questions/depth.js";
import { measureQuestions, type QuestionsInput } from "../questions/timing.js";
import { ownedBy } from "../questions/owned.js";
import { storeFolder } from "../stores/folders.js";
import { answerWith } from "./asking.js";
import { createForging } from "./forging.js";
import { usage } from "./usage.js";

export interface ServeInput {
  size: SizeName;
  /** On its own server, or in a host's Koa app. */
  mounted?: boolean;
  /** 0: nothing is kept, every reply is made anew. Not given: the default. */
  cacheSize?: number;
}

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: console.error, error: console.error };

const listenMounted = async (plugin: ApiPlugin): Promise<AddressInfo> => {
  const app = new Koa();
  plugin.mount(app);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address() as AddressInfo;
};

const events = new EventEmitter();
let serving: { plugin: ApiPlugin; size: SizeName } | undefined;

const served = (): { plugin: ApiPlugin; size: SizeName } => {
  if (serving === undefined) throw new Error("nothing is served yet");
  return serving;
};

const forging = createForging(events, served);

const handlers = {
  /** The port it is served on. */
  serve: async ({ size, mounted = false, cacheSize }: ServeInput): Promise<number> => {
    const { network } = createBenchChain(sizes[size]);
    const plugin = createApiPlugin({
      network,
      events,
      dataDir: storeFolder(sizes[size]),
      logger,
      options: { webhooks: false, ...(cacheSize === undefined ? {} : { cacheSize }) },
    });
    serving = { plugin, size };
    await plugin.start();
    if (mounted) return (await listenMounted(plugin)).port;
    return ((await plugin.listen(0, "127.0.0.1")).address() as AddressInfo).port;
  },
  usage,
  /** How many transactions each of these addresses has. */
  owned: (addresses: string[]) => ownedBy(served().plugin.chain, addresses),
  depth: (input: DepthInput) => measureDepth(served().plugin.chain, input),
  questions: (input: QuestionsInput) => measureQuestions(served().plugin.chain, input),
  prepareBlocks: forging.prepare,
  forge: forging.forge,
  takeOut: forging.takeOut,
  stop: () => served().plugin.stop(),
};

export type PorticoHandlers = typeof handlers;

answerWith(handlers);
