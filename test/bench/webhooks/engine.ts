import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventEmitter } from "eventemitter3";
import type { WebhookOptions } from "../../../types/webhook-options.js";
import { systemClock } from "../../../src/async/clock.js";
import { openWebhookStore } from "../../../src/webhooks/rows/store.js";
import { benchNetwork } from "../chain/chain.js";
import { sizes } from "../chain/sizes.js";
import { followHostEvents } from "../../webhooks/host-follow.js";
import { createProblems } from "../../../src/operate/problems.js";
import { createWebhookEngine, type WebhookEngine } from "../../../src/webhooks/engine.js";

/** A webhook engine on a store of its own in a temporary folder, with durability on. */
export interface BenchEngine {
  events: EventEmitter;
  engine: WebhookEngine;
  close(): Promise<void>;
}

export const openEngine = async (options: WebhookOptions = {}): Promise<BenchEngine> => {
  const dataDir = await mkdtemp(join(tmpdir(), "portico-bench-"));
  const environment = openWebhookStore(dataDir);
  const events = new EventEmitter();
  const silent = (): void => undefined;
  const logger = { debug: silent, info: silent, warn: silent, error: console.error };
  const { follow, feed } = followHostEvents({ environment, dataDir, events, logger, network: benchNetwork(sizes["10k"]) });
  const engine = createWebhookEngine(
    { allowTargets: ["127.0.0.1"], ...options },
    {
      store: environment.store,
      follow,
      clock: systemClock,
      logger,
      problems: createProblems(logger),
      keepsChain: false,
    },
  );
  engine.start();
  const close = async (): Promise<void> => {
    await feed.end();
    await engine.stop(0);
    await environment.close();
    await rm(dataDir, { recursive: true });
  };
  return { events, engine, close };
};
