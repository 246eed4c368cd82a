import type { WebhookRow } from "../../src/webhooks/rows/rows.js";

/** A webhook as stored right after it was created. */
export const webhookRow: Omit<WebhookRow, "id"> = {
  uid: "of this test",
  events: ["peer.added"],
  target: "http://example.com",
  enabled: true,
  conditions: [],
  match: "any",
  confirmations: 0,
  order: "first",
  batch: null,
  rate: null,
  headers: {},
  description: "",
  tags: [],
  signature: "v1",
  token: "ab".repeat(32),
  olderTokens: [],
  createdAt: 0,
  disabledBecause: null,
};
