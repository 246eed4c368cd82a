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

/** The member `webhooks` of an OpenAPI document: by event, the request that a target gets. */
export const describeOutgoing = (requests: readonly OutgoingRequest[], writer: SchemaWriter): Record<string, JsonSchema> =>
  Object.fromEntries(
    requests.map(({ event, summary, headers, body, example }) => [
      event,
      {
        post: {
          tags: ["webhooks"],
          summary,
          security: [],
          parameters: requiredParameters("header", headers, writer),
          requestBody: { required: true, content: { "application/json": { schema: writer.reply(body, "number"), example } } },
          responses,
        },
      },
    ]),
  );
