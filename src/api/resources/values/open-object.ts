import { Type } from "@sinclair/typebox";

/** An object that is passed through unchanged from the chain or the host. */
export const OpenObject = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });
