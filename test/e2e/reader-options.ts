import type { WebhookOptions } from "../../types/webhook-options.js";

/** The configuration that a node and its readers share. */
export const token = "the operator's token";
export const webhookOptions: WebhookOptions = { tokens: [token], allowTargets: ["127.0.0.0/8"] };
