import { temporaryFolder } from "../fixtures/folder.js";
import { atEndOfTest } from "../at-end.js";
import { openWebhookStore, type WebhookStore } from "../../src/webhooks/rows/store.js";

/** Each test of a suite has a store of webhooks, in a folder of its own. */
export const useWebhookStore = (): (() => WebhookStore) => {
  let store: WebhookStore;
  beforeEach(() => {
    const environment = openWebhookStore(temporaryFolder());
    atEndOfTest(environment.close);
    ({ store } = environment);
  });
  return () => store;
};
