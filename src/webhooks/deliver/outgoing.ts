import type { DeliveryRow, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import type { Outgoing } from "../send/http-sender.js";
import { deliveryBody, deliveryHeaders } from "../send/signature.js";

/**
 * Names a delivery to its receiver, the same on every attempt and unlike that of any other node's store. The time is part of it since a
 * store that is restored from a backup counts its deliveries from there once more.
 */
export const messageIdOf = (instance: string, { id, at }: Pick<DeliveryRow, "id" | "at">): string => `msg_${instance}_${id}_${at.toString(36)}`;

/** Tokens that sign now: the present one, and older ones for as long as they overlap. */
const signingTokens = ({ token, olderTokens }: WebhookRow, passed: number): [string, ...string[]] => [
  token,
  ...olderTokens.filter(({ until }) => until > passed).map((older) => older.token),
];

/** The request of one attempt, and the message that it carries. */
export interface Prepared {
  outgoing: Outgoing;
  messageId: number;
}

/** Undefined where the webhook or the delivery is gone, or the delivery was dropped a moment ago. */
export const prepare = (store: WebhookStore, webhook: WebhookRow | undefined, deliveryId: number, now: { wall: number; passed: number }): Prepared | undefined => {
  if (webhook === undefined) return undefined;
  const row = store.delivery(webhook.id, deliveryId);
  if (row?.state !== "pending" && row?.state !== "retrying") return undefined;
  const message = store.message(row.messageId);
  if (message === undefined) return undefined;
  const body = deliveryBody({ ...message, event: row.event });
  const messageId = messageIdOf(store.instance, row);
  const headers = deliveryHeaders(signingTokens(webhook, now.passed), { messageId, at: now.wall, body });
  return { outgoing: { target: webhook.target, headers, body }, messageId: row.messageId };
};
