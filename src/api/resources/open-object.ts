import { Type } from "@sinclair/typebox";

/** An object that passes through as the chain or the host has it. */
export const OpenObject = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });
