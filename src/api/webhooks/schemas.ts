import { type TUnsafe, Type } from "@sinclair/typebox";
import type { BatchRule, DeliveryOrder, DeliveryState } from "../../../types/webhooks.js";
import { TextOrNull } from "../fields.js";
import { InputOf, isoTime, ListOf, OneOf, requiredKeyword, spanOf, Text, WholeNumber } from "../../http/input/schema.js";
import { mostShown, operatorNames, operators } from "../../webhooks/conditions/conditions.js";
import { endsPauseRule, limits } from "../../webhooks/register/draft.js";
import { largestKept } from "../../webhooks/register/dry-run.js";

const Milliseconds = Type.Integer({ description: "Milliseconds since 1970." });
const MillisecondsOrNull = Type.Unsafe<number | null>({ type: ["integer", "null"], description: "Milliseconds since 1970." });

const operatorList = operatorNames.map((name) => `\`${name}\`: the payload's value ${operators[name].meaning}`).join("; ");

const Condition = Type.Object(
  {
    key: Type.String(),
    condition: Type.Unsafe<(typeof operatorNames)[number]>({ type: "string", enum: operatorNames }),
    value: Type.Optional(Type.Unknown()),
  },
  { title: "Condition" },
);

const orders: readonly DeliveryOrder[] = ["first", "strict", "none"];
const signatures = ["v1", "v1a"] as const;

const webhookMembers = {
  id: Type.Integer(),
  event: Type.String({ description: "The first of `events`." }),
  events: Type.Array(Type.String()),
  target: Type.String(),
  enabled: Type.Boolean(),
  conditions: Type.Array(Condition),
  match: Type.Unsafe<"any" | "all">({ type: "string", enum: ["any", "all"] }),
  confirmations: Type.Unsafe<number | "final">({ anyOf: [{ type: "integer" }, { type: "string", enum: ["final"] }] }),
  order: Type.Unsafe<DeliveryOrder>({ type: "string", enum: orders }),
  batch: Type.Unsafe<BatchRule | null>({
    type: ["object", "null"],
    properties: { size: { type: "integer" }, wait: { type: "integer", description: "Milliseconds." } },
    required: ["size", "wait"],
    description: "Several events in one request.",
  }),
  rate: Type.Unsafe<number | null>({ type: ["number", "null"], description: "Deliveries per second, at most." }),
  headers: Type.Record(Type.String(), Type.String()),
  description: Type.String(),
  tags: Type.Array(Type.String()),
  signature: Type.Unsafe<"v1" | "v1a">({ type: "string", enum: signatures }),
  cursor: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Everything up to and including this position has been matched; null until the chain can be read.",
  }),
  behind: Type.Unsafe<number | null>({ type: ["integer", "null"], description: "Blocks from the cursor to the tip." }),
  createdAt: Milliseconds,
  failingSince: MillisecondsOrNull,
  disabledBecause: TextOrNull,
  pausedUntil: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "Milliseconds since 1970. Until then only pings are sent to its target, which answered 429, or 503 with `Retry-After`. Null if it is not paused.",
  }),
};

export const WebhookResource = Type.Object(webhookMembers, { title: "Webhook" });

export const WebhookSecretResource = Type.Object(
  {
    token: Type.String({ description: "64 hexadecimal digits; shown only once." }),
    secret: Type.String({ description: "The same 32 bytes, in the form that Standard Webhooks libraries take." }),
  },
  { title: "WebhookSecret" },
);

export const CreatedWebhookResource = Type.Object({ ...webhookMembers, ...WebhookSecretResource.properties }, { title: "CreatedWebhook" });

const AttemptResource = Type.Object(
  {
    at: Milliseconds,
    duration: Type.Integer({ description: "Milliseconds." }),
    status: Type.Unsafe<number | null>({ type: ["integer", "null"], description: "HTTP status; null if there was no answer." }),
    stage: TextOrNull,
    error: TextOrNull,
    body: Type.String({ description: "First bytes of the answer." }),
  },
  { title: "Attempt" },
);

export const deliveryStates: readonly DeliveryState[] = ["pending", "retrying", "delivered", "dead", "dropped", "superseded"];

const deliveryMembers = {
  id: Type.Integer(),
  webhookId: Type.Integer(),
  messageId: Type.String({ description: "The header `webhook-id`, the same on every attempt." }),
  event: Type.String(),
  state: Type.Unsafe<DeliveryState>({ type: "string", enum: deliveryStates }),
  timestamp: Milliseconds,
  dueAt: MillisecondsOrNull,
  attemptCount: Type.Integer(),
  attempts: Type.Array(AttemptResource),
};

export const DeliveryResource = Type.Object(deliveryMembers, { title: "Delivery" });
export const DeliveryDetailResource = Type.Object({ ...deliveryMembers, payload: Type.Unknown() }, { title: "DeliveryDetail" });

export const EventResource = Type.Object(
  {
    event: Type.String(),
    description: Type.String(),
    source: Type.Unsafe<"chain" | "host" | "webhooks">({ type: "string", enum: ["chain", "host", "webhooks"] }),
    confirmations: Type.Boolean({ description: "Whether this event waits for the confirmations of a webhook." }),
    example: Type.Unknown(),
  },
  { title: "Event" },
);

/** What a target gets: the headers that it verifies the body by. */
export const WebhookRequestHeaders = Type.Object({
  "webhook-id": Type.String({ description: "Id of the delivery or the batch, the same on every attempt." }),
  "webhook-timestamp": Type.String({ description: "Time of the attempt, in seconds since 1970." }),
  "webhook-signature": Type.String({
    description: "As specified by Standard Webhooks; after a rotation there are several, separated by spaces.",
  }),
});

/**
 * Members of what a target gets, beside `data` and `event`, by where the event comes from. Optional, since deliveries that an earlier
 * version of the node has written do not have them.
 */
export const webhookRequestMembers = (source: "chain" | "host" | "webhooks") => ({
  "webhook-id": Type.Optional(
    Type.String({ description: "Within a batch only: the id of the event's delivery, the same in every batch." }),
  ),
  timestamp: Type.Integer({ description: "Time of the event, in milliseconds since 1970." }),
  id: Type.Optional(Type.String({ description: "Id of the event: the same wherever it is read." })),
  // Events about webhooks themselves have no place among those of the chain and the host.
  ...(source === "webhooks"
    ? {}
    : {
        reverts: Type.Optional(Type.String({ description: "Only in a reversal: the `webhook-id` of the delivery that it undoes." })),
        cursor: Type.Optional(Type.String({ description: "Where to continue after this event. Before the last event of a block, it leads to the whole block again." })),
      }),
  block: Type.Optional(
    source === "chain"
      ? Type.Object({ height: Type.Integer(), id: Type.String() }, { description: "The event's block." })
      : Type.Null({ description: "The event has no block." }),
  ),
});

const actualDescription = `The payload's value at the key. Left out if there is none, or if it has more than ${mostShown} characters as JSON; its beginning is then in \`reason\`.`;

export const DryRunResource = Type.Object(
  {
    matches: Type.Boolean(),
    timestamp: MillisecondsOrNull,
    payload: Type.Unknown(),
    conditions: Type.Array(
      Type.Object({
        ...Condition.properties,
        holds: Type.Boolean(),
        actual: Type.Optional(Type.Unknown({ description: actualDescription })),
        reason: Type.String(),
      }),
    ),
  },
  { title: "DryRun" },
);

export const RecoveredResource = Type.Object({ recovered: Type.Integer() }, { title: "Recovered" });

const valueDescription = [
  `\`{min, max}\` for \`between\` and \`not-between\`; a list of at most ${limits.listed.toLocaleString("en")} numbers and strings for \`in\`; not used by \`truthy\` and \`falsy\`.`,
  `Patterns have at most ${limits.pattern} characters, and compile to at most ${limits.instructions} instructions together.`,
  `All values together, without lists, have at most ${limits.values} characters, as JSON.`,
].join(" ");

/** Accepted input. Only its form is checked here; the engine checks the rest, by the same table of operators. */
const ConditionInput = Type.Object({
  key: Text({ minLength: 1, maxLength: limits.key, description: "A member of the payload, or a dotted path into it, in which `*` is any element of a list." }),
  condition: OneOf(operatorNames, { description: operatorList }),
  value: Type.Optional(Type.Unknown({ description: valueDescription })),
});

export const conditionsInput = ListOf(ConditionInput, { maxItems: limits.conditions });
const match = OneOf(["any", "all"], { description: "Whether any one condition must hold, or all of them." });

const flags: readonly unknown[] = [true, false, "true", "false"];
const enabled = InputOf<boolean | "true" | "false">({
  parse: (given) => (flags.includes(given) ? { value: given as boolean | "true" | "false" } : { rule: "must be true or false" }),
  accepts: { anyOf: [{ type: "boolean" }, { type: "string", enum: ["true", "false"] }] },
}, { description: "Default true." });

const confirmations = InputOf<number | "final">({
  parse: (given) => {
    if (given === "final") return { value: given };
    const value = typeof given === "string" && /^\d{1,9}$/.test(given) ? Number(given) : given;
    return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= limits.confirmations
      ? { value: value as number }
      : { rule: `must be a whole number from 0 to ${limits.confirmations}, or "final"` };
  },
  accepts: { anyOf: [{ type: "integer", minimum: 0, maximum: limits.confirmations }, { type: "string", enum: ["final"] }] },
}, {
  description: "How many blocks the webhook stays behind the tip; `final`: until a block can no longer be reverted. A block that is reverted before that is never sent.",
});

/** Any JSON value of which the engine checks what the schema shows. */
const checkedLater = <T>(schema: object): TUnsafe<T> => Type.Unsafe<T>({ ...schema });

const from = InputOf<string | number>({
  parse: (value) => (typeof value === "string" || Number.isSafeInteger(value) ? { value: value as string | number } : { rule: "must be tip, genesis, a height or a cursor" }),
  accepts: { anyOf: [{ type: "string" }, { type: "integer" }] },
}, {
  description:
    "Where it begins: `tip` (default), `genesis`, a height (what comes after its block) or a cursor. An existing webhook continues from here and drops its open deliveries; if `from` is left out, it stays where it is.",
});

/** What a client sets. */
const settings = {
  event: Type.Optional(
    Text({ description: "One of the events that `GET /webhooks/events` lists. Either this or `events` is given; `events` wins." }),
  ),
  events: Type.Optional(
    ListOf(Text({ description: "The name of an event, or a pattern such as `transaction.*`." }), { maxItems: limits.events }),
  ),
  target: Type.Optional(Text({ description: "http or https URL." })),
  enabled: Type.Optional(enabled),
  conditions: Type.Optional(conditionsInput),
  match: Type.Optional(match),
  confirmations: Type.Optional(confirmations),
  order: Type.Optional(OneOf(orders, { description: "`first`: first attempts in order; `strict`: all deliveries in order; `none`: any order." })),
  batch: Type.Optional(
    checkedLater<BatchRule | null>({
      type: ["object", "null"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: limits.batch },
        wait: { type: "integer", minimum: 0, maximum: limits.batchWait },
      },
      required: ["size", "wait"],
      additionalProperties: false,
      description: "Up to `size` events in one request, which waits at most `wait` milliseconds to fill.",
    }),
  ),
  rate: Type.Optional(checkedLater<number | null>({ type: ["number", "null"], exclusiveMinimum: 0, maximum: limits.rate, description: "Deliveries per second, at most." })),
  headers: Type.Optional(checkedLater<Record<string, string>>({ type: "object", additionalProperties: { type: "string" }, description: "Additional headers of its requests." })),
  description: Type.Optional(Type.String({ maxLength: limits.text })),
  tags: Type.Optional(ListOf(Text({ minLength: 1, maxLength: limits.text }), { maxItems: limits.tags })),
  signature: Type.Optional(
    OneOf(signatures, { description: "`v1`: by the webhook's secret; `v1a`: by the node's key (`GET /webhooks/keys`)." }),
  ),
  from: Type.Optional(from),
};

/** What a webhook is shown with, so that it can be sent back as it is: not looked at. */
export const shownMembers = ["id", "createdAt", "failingSince", "disabledBecause", "pausedUntil", "cursor", "behind"] as const;
const shown = Object.fromEntries(shownMembers.map((name) => [name, Type.Optional(Type.Unknown({ description: "Ignored." }))]));

export const WebhookInput = Type.Object({ ...settings, ...shown, target: Text({ description: "http or https URL." }) });
/** What follows "is required" where a replacement lacks something: most who leave it out want to change one member. */
export const replacementRule = ": PUT replaces the whole webhook; PATCH changes only what is given";
export const WebhookReplaceInput = Type.Object(
  { ...settings, ...shown, target: WebhookInput.properties.target },
  { [requiredKeyword]: replacementRule },
);
export const WebhookPatchInput = Type.Object({
  ...settings,
  ...shown,
  pausedUntil: Type.Optional(
    InputOf<null>(
      { parse: (value) => (value === null ? { value } : { rule: endsPauseRule }), accepts: { type: "null" } },
      { description: "Null ends the pause of its target at once, for all webhooks with that target." },
    ),
  ),
});

export const ReplayInput = Type.Object({
  from: WholeNumber({ minimum: 1, description: "The first height." }),
  to: WholeNumber({ minimum: 1, description: "The last height, included." }),
});
export const ReplayResource = Type.Object({ from: Type.Integer(), to: Type.Integer() }, { title: "Replay" });

export const WebhookKeyResource = Type.Object(
  { type: Type.String({ description: "`v1a`: ed25519." }), key: Type.String({ description: "`whpk_` and the key in base64." }) },
  { title: "WebhookKey" },
);

export const DryRunInput = Type.Object({
  event: Type.Optional(Text({ description: "Required without `payload`." })),
  conditions: conditionsInput,
  match: Type.Optional(match),
  payload: Type.Optional(Type.Unknown({ description: `A sample payload of at most ${largestKept} characters as JSON; without it, the last real ones are used.` })),
  last: Type.Optional(WholeNumber({ minimum: 1, maximum: 100 })),
});

/** Milliseconds since 1970, or ISO 8601 with a UTC offset (`Z` or `+01:00`). */
const Time = InputOf<number>({
  parse: (value) => {
    if (Number.isSafeInteger(value)) return { value: value as number };
    const span = typeof value === "string" && isoTime.test(value) ? spanOf(value) : undefined;
    return span === undefined ? { rule: "must be milliseconds since 1970, or a time such as 2024-01-31T12:00:00Z" } : { value: span.begin };
  },
  accepts: { anyOf: [{ type: "integer" }, { type: "string", format: "date-time" }] },
});

export const RecoverInput = Type.Object({ since: Time, until: Type.Optional(Time) });
