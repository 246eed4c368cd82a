import type { WebhookOptions } from "../../types/webhooks.js";

/** What a node and its readers are set up with alike. */
export const token = "the operator's token";
export const webhookOptions: WebhookOptions = { tokens: [token], allowTargets: ["127.0.0.0/8"] };
