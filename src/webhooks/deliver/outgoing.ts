import type { DeliveryRow, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import type { Outgoing } from "../send/http-sender.js";
import { deliveryBody, deliveryHeaders } from "../send/signature.js";

/**
 * Names a delivery to its receiver, the same on every attempt and unlike that of any other node's store. The time is part of it since a
 * store that is restored from a backup counts its deliveries from there once more.
 */
export const messageIdOf = (instance: string, { id, at }: Pick<DeliveryRow, "id" | "at">): string => `msg_${instance}_${id}_${at.toString(36)}`;

/** Tokens that sign now: the present one, and older ones for as long as they overlap. */
const signingTokens = ({ token, olderTokens }: WebhookRow, now: number): [string, ...string[]] => [
  token,
  ...olderTokens.filter(({ until }) => until > now).map((older) => older.token),
];

/** The request of one attempt. Undefined where the webhook or the delivery is gone. */
export const outgoingOf = (store: WebhookStore, webhook: WebhookRow | undefined, deliveryId: number, now: number): Outgoing | undefined => {
  if (webhook === undefined) return undefined;
  const row = store.delivery(webhook.id, deliveryId);
  const message = row && store.message(row.messageId);
  if (row === undefined || message === undefined) return undefined;
  const body = deliveryBody({ ...message, event: row.event });
  const messageId = messageIdOf(store.instance, row);
  return { target: webhook.target, headers: deliveryHeaders(signingTokens(webhook, now), { messageId, at: now, body }), body };
};
