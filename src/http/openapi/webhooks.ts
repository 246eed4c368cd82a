import type { JsonSchema } from "../json-schema.js";
import { headerParameters } from "./parameters.js";
import type { SchemaWriter } from "./schemas.js";
import type { OutgoingRequest } from "../route.js";

/** `transaction.pool.added` → `onTransactionPoolAdded`. A name with a colon is another one for an event whose name has points. */
const operationOf = (name: string): string => {
  const words = name.split(/[^A-Za-z0-9]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `on${words.join("")}${name.includes(":") ? "Alias" : ""}`;
};

/** The member `webhooks` of an OpenAPI document: by event or what else it is, the request that a target gets. */
export const describeOutgoing = (requests: readonly OutgoingRequest[], writer: SchemaWriter): Record<string, JsonSchema> =>
  Object.fromEntries(
    requests.map(({ name, summary, description, headers, body, example, answers }) => [
      name,
      {
        post: {
          tags: ["webhooks"],
          summary,
          description,
          operationId: operationOf(name),
          security: [],
          parameters: headerParameters(headers, writer),
          requestBody: { required: true, content: { "application/json": { schema: writer.reply(body, "number"), example } } },
          responses: Object.fromEntries(Object.entries(answers).map(([status, meaning]) => [status, { description: meaning }])),
        },
      },
    ]),
  );
