import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/async/clock.js";
import { createFollow } from "../../../src/follow/create-follow.js";
import { openWebhookStore } from "../../../src/webhooks/rows/store.js";
import { createProblems } from "../../../src/operate/problems.js";
import { createWebhookEngine, type WebhookEngine } from "../../../src/webhooks/engine.js";
import type { After } from "../../../src/webhooks/timekeeper.js";
import type { ChainChanges } from "../../../types/chain-adapter.js";
import type { WebhookOptions } from "../../../types/webhook-options.js";
import type { Sink } from "../webhooks/sink.js";
import { type EndlessChain, rules } from "./endless-chain.js";

export interface ChainEngine {
  engine: WebhookEngine;
  /** MB of its store. */
  size(): number;
  close(): Promise<void>;
}

/** A webhook engine that follows a chain, with a store of its own. */
export const openChainEngine = (changes: ChainChanges, options: WebhookOptions = {}, time: { clock?: typeof systemClock; after?: After } = {}): ChainEngine => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-follow-"));
  const environment = openWebhookStore(dataDir);
  const silent = (): void => undefined;
  const logger = { debug: silent, info: silent, warn: silent, error: console.error };
  const follow = createFollow({ changes, log: () => undefined, rules, finality: undefined });
  const engine = createWebhookEngine({ allowTargets: ["127.0.0.0/8"], maxWebhooks: 20_000, ...options }, { store: environment.store, follow, clock: systemClock, logger, problems: createProblems(logger), keepsChain: true, ...time });
  engine.start();
  return {
    engine,
    size: () => statSync(join(dataDir, "webhooks.mdb")).size / 2 ** 20,
    close: async () => {
      await engine.stop(0);
      await environment.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

/** An engine whose webhooks, each with a target of its own, have been sent a first block of so many transactions. */
export const openSendingEngine = async (chain: EndlessChain, sink: Sink, { webhooks, transactions }: { webhooks: number; transactions: number }, options: WebhookOptions = {}): Promise<ChainEngine> => {
  const opened = openChainEngine(chain.changes, options);
  for (let index = 0; index < webhooks; index++) opened.engine.create({ event: "transaction.applied", target: `http://127.0.0.1:${sink.port}/${index}` });
  await opened.engine.settled();
  chain.grow(1);
  await sink.until(webhooks * transactions);
  return opened;
};
