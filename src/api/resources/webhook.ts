import { Type } from "@sinclair/typebox";
import type { DeliveryState } from "../../../types/webhooks.js";
import { InputOf, ListOf, OneOf, Text, WholeNumber } from "../../http/input/schema.js";
import { mostShown } from "../../webhooks/conditions/conditions.js";
import { limits } from "../../webhooks/registry/draft.js";
import { operatorNames, operators } from "../../webhooks/conditions/operators.js";
import { largestKept } from "../../webhooks/scan/recent-events.js";
import { TextOrNull } from "./text.js";

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

const webhookMembers = {
  id: Type.Integer(),
  event: Type.String(),
  target: Type.String(),
  enabled: Type.Boolean(),
  conditions: Type.Array(Condition),
  match: Type.Unsafe<"any" | "all">({ type: "string", enum: ["any", "all"] }),
  confirmations: Type.Integer(),
  createdAt: Milliseconds,
  failingSince: MillisecondsOrNull,
  disabledBecause: TextOrNull,
};

export const WebhookResource = Type.Object(webhookMembers, { title: "Webhook" });

export const WebhookSecretResource = Type.Object(
  {
    token: Type.String({ description: "64 hexadecimal digits; returned this once only." }),
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

export const deliveryStates: readonly DeliveryState[] = ["pending", "retrying", "delivered", "dead", "held", "dropped", "superseded"];

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
    source: Type.Unsafe<"chain" | "host">({ type: "string", enum: ["chain", "host"] }),
    confirmations: Type.Boolean({ description: "Whether webhooks for this event can wait for confirmations." }),
    example: Type.Unknown(),
  },
  { title: "Event" },
);

/** What a target gets: the headers that it verifies the body by. */
export const WebhookRequestHeaders = Type.Object({
  "webhook-id": Type.String({ description: "Id of the delivery, the same on every attempt." }),
  "webhook-timestamp": Type.String({ description: "Time of the attempt, in seconds since 1970." }),
  "webhook-signature": Type.String({ description: "As specified by Standard Webhooks; after a rotation there are several, separated by spaces." }),
});

export const WebhookRequestResource = Type.Object(
  {
    timestamp: Type.Integer({ description: "Time of the event, in milliseconds since 1970." }),
    data: Type.Unknown({ description: "Payload of the event." }),
    event: Type.String(),
  },
  { title: "WebhookRequest" },
);

const actualDescription = `The payload's value at the key. Left out if there is none, or if it has more than ${mostShown} characters as JSON: its beginning is in \`reason\`.`;

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
  `\`{min, max}\` for \`between\` and \`not-between\`; a list of at most ${limits.listed.toLocaleString("en")} numbers and texts for \`in\`; not used by \`truthy\` and \`falsy\`.`,
  `Patterns have at most ${limits.pattern} characters, and compile to at most ${limits.instructions} instructions together.`,
  `All values together, without lists, have at most ${limits.values} characters, as JSON.`,
].join(" ");

/** Accepted input. Only its form is checked here; the engine checks the rest, by the same table of operators. */
const ConditionInput = Type.Object({
  key: Text({ minLength: 1, maxLength: limits.key, description: "A member of the payload, or a dotted path into it, in which `*` is any element of a list." }),
  condition: OneOf(operatorNames, { description: operatorList }),
  value: Type.Optional(Type.Unknown({ description: valueDescription })),
});

const conditions = ListOf(ConditionInput, { maxItems: limits.conditions });
const match = OneOf(["any", "all"], { description: "Whether any one condition must hold, or all of them." });

/** Declared by hand, since the schema of a `Flag` would not show that text is accepted too. */
const enabled = Type.Unsafe<boolean | "true" | "false">({ enum: [true, false, "true", "false"], description: "Default true." });

const confirmationsDescription =
  "For block.applied and transaction.applied only: a delivery waits for this many confirmations, and is dropped if its block is reverted first.";

export const WebhookInput = Type.Object({
  event: Text({ description: "One of the events that `GET /webhooks/events` lists." }),
  target: Text({ description: "http or https URL." }),
  enabled: Type.Optional(enabled),
  conditions: Type.Optional(conditions),
  match: Type.Optional(match),
  confirmations: Type.Optional(WholeNumber({ minimum: 0, maximum: limits.confirmations, description: confirmationsDescription })),
});

export const DryRunInput = Type.Object({
  event: Type.Optional(Text({ description: "Required without `payload`." })),
  conditions,
  match: Type.Optional(match),
  payload: Type.Optional(Type.Unknown({ description: `A sample payload of at most ${largestKept} characters as JSON; without it, the last real ones are used.` })),
  last: Type.Optional(WholeNumber({ minimum: 1, maximum: 100 })),
});

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970, or ISO 8601 with a UTC offset (`Z` or `+01:00`). */
const Time = InputOf<number>({
  parse: (value) => {
    if (Number.isSafeInteger(value)) return { value: value as number };
    const time = typeof value === "string" && isoTime.test(value) ? Date.parse(value) : Number.NaN;
    return Number.isNaN(time) ? { rule: "must be milliseconds since 1970, or a time such as 2024-01-31T12:00:00Z" } : { value: time };
  },
  accepts: { anyOf: [{ type: "integer" }, { type: "string", format: "date-time" }] },
});

export const RecoverInput = Type.Object({ since: Time, until: Type.Optional(Time) });
