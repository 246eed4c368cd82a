/** The process that serves: Portico on the store of a size, and what has to be measured from within. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { EventEmitter } from "eventemitter3";
import Koa from "koa";
import { createApiPlugin } from "../../../src/plugin/plugin.js";
import type { LakeOptions } from "../../../types/options.js";
import type { ApiPlugin } from "../../../types/plugin.js";
import { benchNetwork } from "../chain/chain.js";
import { sizes, type SizeName } from "../chain/sizes.js";
import { measureDepth, type DepthInput } from "../questions/depth.js";
import { measureQuestions, type QuestionsInput } from "../questions/timing.js";
import { ownedBy } from "../questions/owned.js";
import { storeFolder } from "../stores/folders.js";
import { touchStore } from "../stores/touch.js";
import { answerWith } from "./asking.js";
import { createForging } from "./forging.js";
import { usage } from "./usage.js";

export interface ServeInput {
  size: SizeName;
  /** 0: nothing is cached, every reply is made anew. Not given: the default. */
  cacheSize?: number;
  lake?: LakeOptions;
}

const silent = (): void => undefined;
const logger = { debug: silent, info: silent, warn: console.error, error: console.error };

const events = new EventEmitter();
let serving: ApiPlugin | undefined;

const served = (): ApiPlugin => {
  if (serving === undefined) throw new Error("nothing is served yet");
  return serving;
};

const forging = createForging(events, served);

const handlers = {
  /** Returns the port, and the milliseconds from `createApiPlugin` until it listens. */
  serve: async ({ size, cacheSize, lake }: ServeInput): Promise<{ port: number; opening: number }> => {
    const network = benchNetwork(sizes[size]);
    const begun = performance.now();
    const plugin = createApiPlugin({
      network,
      events,
      dataDir: storeFolder(sizes[size]),
      logger,
      options: { webhooks: false, ...(cacheSize === undefined ? {} : { cacheSize }), ...(lake === undefined ? {} : { lake }) },
    });
    serving = plugin;
    await plugin.start();
    const { port } = (await plugin.listen(0, "127.0.0.1")).address() as AddressInfo;
    return { port, opening: performance.now() - begun };
  },
  /** Serves the same in a host's Koa app, too. Returns its port. */
  mount: async (): Promise<number> => {
    const app = new Koa();
    served().mount(app);
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
  usage,
  /** Brings the store's pages into memory, and into this process's map of it, as they are in a server that has run for days. */
  touch: (size: SizeName) => touchStore(sizes[size]),
  /** How many transactions each of these addresses has. */
  owned: (addresses: string[]) => ownedBy(served().chain, addresses),
  depth: (input: DepthInput) => measureDepth(served().chain, input),
  questions: (input: QuestionsInput) => measureQuestions(served().chain, input),
  hold: forging.hold,
  forge: forging.forge,
  takeOut: forging.takeOut,
  stop: () => served().stop(),
};

export type PorticoHandlers = typeof handlers;

answerWith(handlers);
