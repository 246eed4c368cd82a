import type { WebhookRow } from "../../types/webhook-store.js";

/** A webhook as stored right after it was created. */
export const webhookRow: Omit<WebhookRow, "id"> = {
  event: "peer.added",
  target: "http://example.com",
  enabled: true,
  conditions: [],
  match: "any",
  confirmations: 0,
  token: "ab".repeat(32),
  olderTokens: [],
  createdAt: 0,
  failingSince: null,
  disabledBecause: null,
};
