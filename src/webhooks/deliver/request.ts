import { hash } from "node:crypto";
import type { DeliveryRow, WebhookRow } from "../../../types/webhook-store.js";
import type { Outgoing } from "../send/http-sender.js";
import type { LoadedEvent, Payloads } from "./payloads.js";
import { deliveryHeaders, type NodeKey } from "../send/signature.js";

/**
 * The value of `webhook-id`: made from the webhook and the event, and nothing else, so that a replay or a restored node sends the same. No
 * dots: what is signed has them between its parts.
 */
export const keyOf = (webhookId: number, eventId: string): string => `msg_${webhookId}_${hash("sha256", `${webhookId} ${eventId}`, "hex").slice(0, 32)}`;

/** A batch is named by what is in it: without one of its events it is another. */
export const batchKeyOf = (webhookId: number, rows: readonly DeliveryRow[]): string => keyOf(webhookId, rows.map(({ key }) => key).join(" "));

/** A delivery with its event. */
export interface Loaded extends LoadedEvent {
  row: DeliveryRow;
}

/** The events of deliveries, but for those whose block is no longer kept. */
export const loadEvents = async (payloads: Payloads, rows: readonly DeliveryRow[]): Promise<Loaded[]> => {
  const loaded: Loaded[] = [];
  for (const row of rows) {
    const found = payloads.load(row.messageId);
    const event = found instanceof Promise ? await found : found;
    if (event !== undefined) loaded.push({ row, ...event });
  }
  return loaded;
};

const cursorAt = ({ row, message }: Loaded): string | undefined => (row.last === true || message.block === undefined ? message.after : message.before);

const member = (name: string, json: string | undefined): string => (json === undefined ? "" : `,"${name}":${json}`);

/** Members in the order in which they have always been, then the newer ones: the same bytes on every attempt. */
const eventJson = (loaded: Loaded): string => {
  const { row, message, json } = loaded;
  const cursor = cursorAt(loaded);
  const rest = [
    member("event", JSON.stringify(row.event)),
    member("reverts", row.reverts && JSON.stringify(row.reverts)),
    member("id", message.eventId && JSON.stringify(message.eventId)),
    member("cursor", cursor && JSON.stringify(cursor)),
    message.eventId === undefined ? "" : member("block", JSON.stringify(message.block ?? null)),
  ];
  return `"timestamp":${message.at},"data":${json}${rest.join("")}`;
};

/** Tokens that sign now: the present one, and older ones for as long as they overlap. */
const signingTokens = ({ token, olderTokens }: WebhookRow, passed: number): [string, ...string[]] => [
  token,
  ...olderTokens.filter(({ until }) => until > passed).map((older) => older.token),
];

/** The request of one attempt. */
export const requestOf = (webhook: WebhookRow, events: readonly Loaded[], isBatch: boolean, now: { wall: number; passed: number }, nodeKey: NodeKey | undefined): Outgoing => {
  const single = events.map((loaded) => `{${eventJson(loaded)}}`).join("");
  const several = (): string => `{"events":[${events.map((loaded) => `{"webhook-id":${JSON.stringify(loaded.row.key)},${eventJson(loaded)}}`).join(",")}]}`;
  const body = isBatch ? several() : single;
  const rows = events.map(({ row }) => row);
  const messageId = isBatch ? batchKeyOf(webhook.id, rows) : (rows[0]?.key ?? "");
  const signed = { messageId, at: now.wall, body };
  const headers = deliveryHeaders(signingTokens(webhook, now.passed), signed, webhook.signature === "v1a" ? nodeKey : undefined);
  return { target: webhook.target, headers: { ...webhook.headers, ...headers }, body };
};
