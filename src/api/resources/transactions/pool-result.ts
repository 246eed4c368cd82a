import { Type } from "@sinclair/typebox";

const Ids = Type.Array(Type.String());

/** The outcome of submitting transactions: ids by what became of the transaction. */
export const PoolResultResource = Type.Object(
  {
    data: Type.Object({ accept: Ids, broadcast: Ids, excess: Ids, invalid: Ids }),
    errors: Type.Optional(
      Type.Unsafe<Record<string, { type: string; message: string }[]>>({
        type: "object",
        additionalProperties: {
          type: "array",
          items: {
            type: "object",
            properties: { type: { type: "string" }, message: { type: "string" } },
            required: ["type", "message"],
          },
        },
        description: "Id of a transaction -> why it is under `invalid` or `excess`.",
      }),
    ),
  },
  { title: "PoolResult" },
);
