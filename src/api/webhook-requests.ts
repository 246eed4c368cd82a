import type { EventDescription } from "../../types/webhooks.js";
import type { OutgoingRequest } from "../http/route.js";
import { WebhookRequestHeaders, WebhookRequestResource } from "./resources/webhook.js";

/** Milliseconds since 1970 of the examples. */
const sampleTime = 1_795_347_229_922;

/** The requests that targets of webhooks get, an event each. */
export const webhookRequests = (events: readonly EventDescription[]): OutgoingRequest[] =>
  events.map(({ event, description, example }) => ({
    event,
    summary: description,
    headers: WebhookRequestHeaders,
    body: WebhookRequestResource,
    example: { timestamp: sampleTime, data: example, event },
  }));
