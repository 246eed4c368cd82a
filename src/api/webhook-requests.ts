import { Type } from "@sinclair/typebox";
import type { EventDescription } from "../../types/webhooks.js";
import type { OutgoingRequest } from "../http/route.js";
import { eventPayload } from "./resources/event-payload.js";
import { WebhookRequestHeaders, webhookRequestMembers } from "./resources/webhook.js";

/** Milliseconds since 1970 of the examples. */
const sampleTime = 1_795_347_229_922;

/** What the bodies of an event's requests are called: `transaction.pool.added` → `TransactionPoolAdded`. */
const titleOf = (event: string): string =>
  event
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("") + (event.includes(":") ? "AliasRequest" : "Request");

/** The requests that targets of webhooks get, an event each. */
export const webhookRequests = (events: readonly EventDescription[]): OutgoingRequest[] =>
  events.map((described) => ({
    event: described.event,
    summary: described.description,
    headers: WebhookRequestHeaders,
    body: Type.Object({ ...webhookRequestMembers, data: eventPayload(described), event: Type.Literal(described.event) }, { title: titleOf(described.event) }),
    example: { timestamp: sampleTime, data: described.example, event: described.event },
  }));
