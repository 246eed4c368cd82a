import type { WebhookStore } from "../../../types/webhook-store.js";
import type { Register } from "../registry/register.js";
import { keyOf } from "./request.js";

/** An event about webhooks themselves. */
export interface OwnEvent {
  event: "webhook.disabled" | "webhook.failing" | "webhook.enabled" | "delivery.dead";
  data: { webhook: number; delivery?: number; event?: string; reason: string };
}

/** Whether an event is one of these: its own deliveries that die are not announced. */
export const isOwnEvent = (event: string): boolean => /^(?:webhook|delivery)\./.test(event);

/** Writes an event for the webhooks that ask for it; within a transaction. Returns which they are. */
export const announce = (store: WebhookStore, register: Register, at: number, { event, data }: OwnEvent): number[] => {
  const ids = register.matcher().listens(event) ? register.matcher().match(event, data).ids.filter((id) => id !== data.webhook || event === "webhook.enabled" || event === "delivery.dead") : [];
  if (ids.length === 0) return [];
  const eventId = `${store.instance}.${event}.${data.webhook}.${data.delivery ?? 0}.${at.toString(36)}`;
  store.append(
    { at, eventId, event, json: JSON.stringify(data) },
    ids.map((webhookId) => ({ webhookId, event, key: keyOf(webhookId, eventId), begin: { state: "pending" } })),
  );
  return ids;
};
