import type { JsonSchema } from "../json-schema.js";
import { requiredParameters } from "./parameters.js";
import type { SchemaWriter } from "./schemas.js";
import type { OutgoingRequest } from "../route.js";

/** What each answer of a target leads to, by its status. */
const responses = {
  "2XX": { description: "The delivery succeeded." },
  "410": { description: "No more deliveries are wanted: the webhook is disabled." },
  default: { description: "The attempt failed; the delivery is retried later." },
};

/** `transaction.pool.added` → `onTransactionPoolAdded`. A name with a colon is another one for an event whose name has points. */
const operationOf = (event: string): string => {
  const words = event.split(/[^A-Za-z0-9]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `on${words.join("")}${event.includes(":") ? "Alias" : ""}`;
};

/** The member `webhooks` of an OpenAPI document: by event, the request that a target gets. */
export const describeOutgoing = (requests: readonly OutgoingRequest[], writer: SchemaWriter): Record<string, JsonSchema> =>
  Object.fromEntries(
    requests.map(({ event, summary, headers, body, example }) => [
      event,
      {
        post: {
          tags: ["webhooks"],
          summary,
          description: `${summary} Sent to the targets of webhooks that ask for it, signed as Standard Webhooks has it.`,
          operationId: operationOf(event),
          security: [],
          parameters: requiredParameters("header", headers, writer),
          requestBody: { required: true, content: { "application/json": { schema: writer.reply(body, "number"), example } } },
          responses,
        },
      },
    ]),
  );
