import { Type } from "@sinclair/typebox";
import type { IncomingHttpHeaders } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Condition, Webhooks } from "../../../types/webhooks.js";
import { DataOf } from "../fields.js";
import {
  CreatedWebhookResource,
  DeliveryDetailResource,
  DeliveryResource,
  deliveryStates,
  DryRunInput,
  DryRunResource,
  EventResource,
  RecoveredResource,
  RecoverInput,
  replacementRule,
  ReplayInput,
  ReplayResource,
  shownMembers,
  WebhookInput,
  WebhookKeyResource,
  WebhookPatchInput,
  WebhookReplaceInput,
  WebhookResource,
  WebhookSecretResource,
} from "./schemas.js";
import { inputError, PorticoError } from "../../errors.js";
import { OneOf, Text } from "../../http/input/schema.js";
import { type Route, routesOf, type Scope } from "../../http/route.js";
import { checkInAdvance } from "../../webhooks/register/draft.js";

/** What webhook routes are answered from. They need no chain. */
interface WebhookScope extends Scope {
  /** @throws PorticoError NOT_READY while the store is closed, NOT_SUPPORTED if the node has no webhooks */
  readonly webhooks: Webhooks;
}

const { item, list } = routesOf<WebhookScope>();

const common = { versions: [1, 2], resource: "webhooks", authenticated: true, stateless: true, cache: "never", errors: [501] } as const;
/** Bytes: a condition may list 100,000 addresses. */
const largestWebhook = 8_388_608;
const params = Type.Object({ id: Text({ description: "Number of the webhook." }) });
const deliveryParams = Type.Object({
  id: Text({ description: "Number of the webhook." }),
  deliveryId: Text({ description: "Number of the delivery." }),
});
const Nothing = Type.Object({});

/** Parses a number in a path. Anything that is not a number is reported as not found. */
const numberOf = (text: string, missing: "WEBHOOK_NOT_FOUND" | "DELIVERY_NOT_FOUND"): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new PorticoError(missing);
  return Number(text);
};

const webhookOf = ({ id }: { id: string }): number => numberOf(id, "WEBHOOK_NOT_FOUND");
const deliveryOf = ({ id, deliveryId }: { id: string; deliveryId: string }): [number, number] => [
  webhookOf({ id }),
  numberOf(deliveryId, "DELIVERY_NOT_FOUND"),
];

/** A draft without what only the node sets. */
const withoutShown = <T extends object>(body: T): Omit<T, (typeof shownMembers)[number]> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !(shownMembers as readonly string[]).includes(name))) as never;

const longestKey = 255;

const creationHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Text({ minLength: 1, maxLength: longestKey, description: "For a day, the same key with the same body gets the same reply, token included; with another body it is refused." }),
  ),
});

const idempotencyKey = (headers: IncomingHttpHeaders): string | undefined => {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > longestKey)
    throw inputError("headers", "Idempotency-Key", `must be a string of 1 to ${longestKey} characters`);
  return key;
};

/** Conditions may list 100,000 addresses: parsing them, checking them, and what is done with them have a turn of the event loop each. */
const checkInTurns = async (conditions: readonly Condition[] | undefined): Promise<void> => {
  await nextTurn();
  if (conditions !== undefined) checkInAdvance(conditions);
  await nextTurn();
};

/**
 * Keeping them, taking them into memory, which the engine does in the turn of the event loop after that, and writing the reply have a turn
 * each, too.
 */
const inTurns = async <T>(conditions: readonly Condition[] | undefined, keep: () => T): Promise<T> => {
  await checkInTurns(conditions);
  const kept = keep();
  await nextTurn();
  await nextTurn();
  return kept;
};

export const webhookRoutes: Route<WebhookScope>[] = [
  list({
    ...common,
    method: "GET",
    path: "/webhooks",
    summary: "Lists webhooks, enabled or not, oldest first.",
    query: Type.Object({ tag: Type.Optional(Text({ description: "Only webhooks with this tag." })) }),
    item: WebhookResource,
    answer: ({ page, query: { tag } }, { webhooks }) => webhooks.list({ ...page, tag }),
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks",
    summary: "Creates a webhook and returns its token and secret, which are shown only once.",
    body: WebhookInput,
    headers: creationHeaders,
    bodyLimit: largestWebhook,
    requiresJsonType: true,
    status: 201,
    errors: [409, 410, 501],
    reply: DataOf(CreatedWebhookResource),
    answer: async ({ body, headers }, { webhooks }) => ({
      data: await inTurns(body.conditions, () => webhooks.create(withoutShown(body), idempotencyKey(headers))),
    }),
  }),
  item({
    ...common,
    authenticated: false,
    method: "GET",
    path: "/webhooks/keys",
    summary: "Lists the node's public keys, with which receivers verify `v1a` signatures.",
    reply: DataOf(Type.Array(WebhookKeyResource)),
    answer: (_, { webhooks }) => ({ data: webhooks.keys() }),
  }),
  list({
    ...common,
    method: "GET",
    path: "/webhooks/events",
    summary: "Lists the events that a webhook can listen to, each with an example payload.",
    item: EventResource,
    answer: ({ page: { offset, limit } }, { webhooks }) => {
      const events = webhooks.events();
      return { rows: events.slice(offset, offset + limit), total: events.length };
    },
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/dry-run",
    operation: "dryRunWebhook",
    summary: "Tests conditions against a sample payload, or against the last real payloads of an event. Nothing is sent.",
    body: DryRunInput,
    bodyLimit: largestWebhook,
    requiresJsonType: true,
    errors: [415, 501],
    reply: DataOf(Type.Array(DryRunResource)),
    answer: async ({ body }, { webhooks }) => {
      await checkInTurns(body.conditions);
      return { data: await webhooks.dryRun(body) };
    },
  }),
  item({
    ...common,
    method: "GET",
    path: "/webhooks/{id}",
    summary: "Returns a webhook.",
    params,
    errors: [404, 501],
    reply: DataOf(WebhookResource),
    answer: ({ params }, { webhooks }) => ({ data: webhooks.get(webhookOf(params)) }),
  }),
  item({
    ...common,
    method: "PUT",
    path: "/webhooks/{id}",
    summary: "Replaces a webhook, keeping its id and token; members left out get their defaults. `from` moves its cursor.",
    params,
    body: WebhookReplaceInput,
    bodyLimit: largestWebhook,
    requiresJsonType: true,
    errors: [404, 410, 415, 501],
    reply: Nothing,
    answer: async ({ params, body }, { webhooks }) => {
      if (body.event === undefined && body.events === undefined)
        throw inputError("payload", "event", `or "events" is required${replacementRule}`);
      await inTurns(body.conditions, () => webhooks.replace(webhookOf(params), withoutShown(body)));
      return {};
    },
  }),
  item({
    ...common,
    method: "PATCH",
    path: "/webhooks/{id}",
    summary: "Changes the given members of a webhook. `from` moves its cursor; `\"pausedUntil\": null` ends the pause of its target.",
    params,
    body: WebhookPatchInput,
    bodyLimit: largestWebhook,
    requiresJsonType: true,
    errors: [404, 410, 415, 501],
    reply: DataOf(WebhookResource),
    answer: async ({ params, body }, { webhooks }) => ({ data: await inTurns(body.conditions, () => webhooks.patch(webhookOf(params), { ...withoutShown(body), pausedUntil: body.pausedUntil })) }),
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/{id}/replay",
    summary: "Sends the events of some heights again, beside the live ones.",
    params,
    body: ReplayInput,
    requiresJsonType: true,
    status: 202,
    errors: [404, 415, 501],
    reply: DataOf(ReplayResource),
    answer: ({ params, body }, { webhooks }) => {
      webhooks.replay(webhookOf(params), body);
      return { data: body };
    },
  }),
  item({
    ...common,
    method: "DELETE",
    path: "/webhooks/{id}",
    summary: "Deletes a webhook and its deliveries.",
    params,
    errors: [404, 501],
    reply: Nothing,
    answer: ({ params }, { webhooks }) => {
      webhooks.remove(webhookOf(params));
      return {};
    },
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/{id}/ping",
    summary: "Sends a ping to the target, whatever the webhook's event and conditions.",
    params,
    status: 202,
    errors: [404, 501],
    reply: DataOf(DeliveryResource),
    answer: ({ params }, { webhooks }) => ({ data: webhooks.ping(webhookOf(params)) }),
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/{id}/rotate",
    summary: "Gives a webhook a new token and secret, which are shown only once; the old ones keep signing for a day.",
    params,
    errors: [404, 501],
    reply: DataOf(WebhookSecretResource),
    answer: ({ params }, { webhooks }) => ({ data: webhooks.rotate(webhookOf(params)) }),
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/{id}/recover",
    summary: "Resends the deliveries of a period that failed or are waiting to be retried; without `until`, the period ends now.",
    params,
    body: RecoverInput,
    requiresJsonType: true,
    errors: [404, 415, 501],
    reply: DataOf(RecoveredResource),
    answer: async ({ params, body: { since, until = Infinity } }, { webhooks }) => ({
      data: { recovered: await webhooks.recover(webhookOf(params), { since, until }) },
    }),
  }),
  list({
    ...common,
    method: "GET",
    path: "/webhooks/{id}/deliveries",
    summary: "Lists the deliveries of a webhook, newest first.",
    params,
    query: Type.Object({ state: Type.Optional(OneOf(deliveryStates, { description: "Only deliveries in this state." })) }),
    errors: [404, 501],
    item: DeliveryResource,
    answer: ({ params, query: { state }, page }, { webhooks }) => webhooks.deliveries(webhookOf(params), state, page),
  }),
  item({
    ...common,
    method: "GET",
    path: "/webhooks/{id}/deliveries/{deliveryId}",
    summary: "Returns a delivery with its payload and attempts.",
    params: deliveryParams,
    errors: [404, 501],
    reply: DataOf(DeliveryDetailResource),
    answer: async ({ params }, { webhooks }) => {
      const delivery = webhooks.delivery(...deliveryOf(params));
      return { data: { ...delivery, payload: await delivery.payload } };
    },
  }),
  item({
    ...common,
    method: "POST",
    path: "/webhooks/{id}/deliveries/{deliveryId}/redeliver",
    summary: "Resends a delivery, with the whole retry schedule; a ping is sent once. Refused if its block was reverted since.",
    params: deliveryParams,
    status: 202,
    errors: [404, 501],
    reply: DataOf(DeliveryResource),
    answer: ({ params }, { webhooks }) => ({ data: webhooks.redeliver(...deliveryOf(params)) }),
  }),
];
