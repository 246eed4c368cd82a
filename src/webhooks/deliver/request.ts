import { hash } from "node:crypto";
import type { DeliveryRow, WebhookRow } from "../rows/rows.js";
import type { Outgoing } from "../send/http-sender.js";
import { deliveryHeaders, type NodeKey } from "../send/signature.js";
import type { LoadedEvent } from "./messages.js";

/**
 * The value of `webhook-id`: made from the webhook and the event, and nothing else, so that a replay or a restored node sends the same. No
 * dots: what is signed has them between its parts.
 */
export const keyOf = ({ id, uid }: Pick<WebhookRow, "id" | "uid">, eventId: string): string => `msg_${id}_${hash("sha256", `${uid} ${eventId}`, "hex").slice(0, 32)}`;

/** A batch is named by what is in it: without one of its events it is another. */
export const batchKeyOf = (webhookId: number, rows: readonly DeliveryRow[]): string => keyOf({ id: webhookId, uid: String(webhookId) }, rows.map(({ key }) => key).join(" "));

/** A delivery with its event. */
export interface Loaded {
  row: DeliveryRow;
  event: LoadedEvent;
}

const member = (name: string, json: string | undefined): string => (json === undefined ? "" : `,"${name}":${json}`);

/** Members in the order in which they have always been, then the newer ones: the same bytes on every attempt. */
const makeJson = ({ message }: LoadedEvent, event: string, isLast: boolean, reverts: string | undefined): string => {
  const cursor = isLast || message.block === undefined ? message.after : message.before;
  const rest = [
    member("event", JSON.stringify(event)),
    member("reverts", reverts && JSON.stringify(reverts)),
    member("id", message.eventId && JSON.stringify(message.eventId)),
    member("cursor", cursor && JSON.stringify(cursor)),
    message.eventId === undefined ? "" : member("block", JSON.stringify(message.block ?? null)),
  ];
  return `"timestamp":${message.at},"data":${message.json}${rest.join("")}`;
};

/** Most webhooks are sent an event in the same words: what was made for one of them is kept for the next. */
const eventJson = ({ row, event: loaded }: Loaded): string => {
  const { event, reverts, last: isLast = false } = row;
  if (reverts !== undefined) return makeJson(loaded, event, isLast, reverts);
  const { made } = loaded;
  if (made?.event === event && made.isLast === isLast) return made.json;
  const json = makeJson(loaded, event, isLast, undefined);
  loaded.made = { event, isLast, json };
  return json;
};

/** Tokens that sign now: the present one, and older ones for as long as they overlap. */
const signingTokens = ({ token, olderTokens }: WebhookRow, passed: number): [string, ...string[]] => [
  token,
  ...olderTokens.filter(({ until }) => until > passed).map((older) => older.token),
];

/** The request of one attempt. */
export const requestOf = (webhook: WebhookRow, events: readonly Loaded[], isBatch: boolean, now: { wall: number; passed: number }, nodeKey: NodeKey | undefined): Outgoing => {
  const [first] = events;
  const several = (): string => `{"events":[${events.map((loaded) => `{"webhook-id":${JSON.stringify(loaded.row.key)},${eventJson(loaded)}}`).join(",")}]}`;
  const body = isBatch || first === undefined ? several() : `{${eventJson(first)}}`;
  const messageId = isBatch || first === undefined ? batchKeyOf(webhook.id, events.map(({ row }) => row)) : first.row.key;
  const signed = { messageId, at: now.wall, body };
  const headers = deliveryHeaders(signingTokens(webhook, now.passed), signed, webhook.signature === "v1a" ? nodeKey : undefined);
  return { target: webhook.target, headers: { ...webhook.headers, ...headers }, body };
};
