import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWebhookStore, type WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";

/** Each test of a suite has a store of webhooks, in a folder of its own. */
export const useWebhookStore = (): (() => WebhookStore) => {
  let dataDir: string;
  let environment: WebhookEnvironment;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "portico-webhooks-"));
    environment = openWebhookStore(dataDir);
  });
  afterEach(async () => {
    await environment.close();
    await rm(dataDir, { recursive: true });
  });
  return () => environment.store;
};
