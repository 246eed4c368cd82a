import { createHmac, hash, randomBytes } from "node:crypto";
import type { DeliveryRow, Message, WebhookRow } from "../rows/rows.js";
import { LRUCache } from "lru-cache";
import type { WebhookStore } from "../rows/store.js";
import type { OutgoingDelivery, WebhookSecret } from "../../../types/webhooks.js";

const tokenBytes = 32;
/** Half of the token goes out with every delivery; the receiver keeps the other half to compare. */
const sentDigits = 32;

/** 64 hex digits, from the system's source of random bytes. */
export const createToken = (): string => randomBytes(tokenBytes).toString("hex");

/** Both forms in which a secret is shown. */
export const secretOf = (token: string): WebhookSecret => ({ token, secret: `whsec_${Buffer.from(token, "hex").toString("base64")}` });

const sign = (token: string, content: string): string =>
  `v1,${createHmac("sha256", Buffer.from(token, "hex")).update(content).digest("base64")}`;

interface SignatureInput {
  messageId: string;
  /** Milliseconds since 1970; a receiver refuses what is older than five minutes, so each attempt has its own. */
  at: number;
  body: string;
}

/** The node's key, by which receivers may verify requests without sharing a secret. */
export interface NodeKey {
  /** 32 bytes. */
  publicKey: Buffer;
  sign(content: Buffer): Buffer;
}

/** As Standard Webhooks libraries take public keys. */
export const publicKeyText = ({ publicKey }: NodeKey): string => `whpk_${publicKey.toString("base64")}`;

/**
 * Headers of one attempt: half of the token, as the predecessor sent it, and Standard Webhooks 1.0, signed with each of the tokens or, if
 * it is given, by the node's key instead.
 */
const deliveryHeaders = (
  tokens: readonly [string, ...string[]],
  { messageId, at, body }: SignatureInput,
  nodeKey?: NodeKey,
): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1000));
  const content = `${messageId}.${timestamp}.${body}`;
  return {
    authorization: tokens[0].slice(0, sentDigits),
    "content-type": "application/json",
    "user-agent": "Portico",
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": nodeKey === undefined ? tokens.map((token) => sign(token, content)).join(" ") : `v1a,${nodeKey.sign(Buffer.from(content)).toString("base64")}`,
  };
};

/** A message, and what its last delivery was sent with. */
interface LoadedEvent {
  message: Message;
  made?: { event: string; isLast: boolean; json: string };
}

/** Characters of payloads that are kept: the deliveries of a message to many webhooks are sent at about the same time. */
const keptCharacters = 2 ** 23;

/** The messages that were written or sent last. */
export const createMessages = (store: Pick<WebhookStore, "message">) => {
  const loaded = new LRUCache<number, LoadedEvent>({ maxSize: keptCharacters, sizeCalculation: ({ message }) => 2 * message.json.length + 500 });
  const keep = (id: number, message: Message): LoadedEvent => {
    const event = { message };
    loaded.set(id, event);
    return event;
  };
  return {
    /** A message was written: most are sent in a moment. */
    note: (id: number, message: Message): void => void (loaded.has(id) || keep(id, message)),
    load: (id: number): LoadedEvent | undefined => {
      const known = loaded.get(id);
      if (known !== undefined) return known;
      const message = store.message(id);
      return message && keep(id, message);
    },
  };
};

export type Messages = ReturnType<typeof createMessages>;

/**
 * The value of `webhook-id`: made from the webhook and the event, and nothing else, so that a replay or a restored node sends the same. No
 * dots: what is signed has them between its parts.
 */
export const keyOf = ({ id, uid }: Pick<WebhookRow, "id" | "uid">, eventId: string): string =>
  `msg_${id}_${hash("sha256", `${uid} ${eventId}`, "hex").slice(0, 32)}`;

/** A batch is named by what is in it: without one of its events it is another. */
export const batchKeyOf = (webhookId: number, rows: readonly DeliveryRow[]): string =>
  keyOf({ id: webhookId, uid: String(webhookId) }, rows.map(({ key }) => key).join(" "));

/** A delivery with its event. */
export interface EventOfRow {
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
const eventJson = ({ row, event: loaded }: EventOfRow): string => {
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
export const requestOf = (
  webhook: WebhookRow,
  events: readonly EventOfRow[],
  isBatch: boolean,
  now: { wall: number; passed: number },
  nodeKey: NodeKey | undefined,
): OutgoingDelivery => {
  const [first] = events;
  const several = (): string =>
    `{"events":[${events.map((loaded) => `{"webhook-id":${JSON.stringify(loaded.row.key)},${eventJson(loaded)}}`).join(",")}]}`;
  const body = isBatch || first === undefined ? several() : `{${eventJson(first)}}`;
  const messageId = isBatch || first === undefined ? batchKeyOf(webhook.id, events.map(({ row }) => row)) : first.row.key;
  const signed = { messageId, at: now.wall, body };
  const headers = deliveryHeaders(signingTokens(webhook, now.passed), signed, webhook.signature === "v1a" ? nodeKey : undefined);
  return { target: webhook.target, headers: { ...webhook.headers, ...headers }, body };
};
