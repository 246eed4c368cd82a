import { type TProperties, Type } from "@sinclair/typebox";

/** Common to all routes of the first generation. Unknown parameters are ignored, since deployed clients send some that no route reads. */
export const firstGeneration = { method: "GET", versions: [1], ignoresUnknownQuery: true } as const;

/** Schema of a successful reply: its own members and `success`. Errors are reported in the same form, by src/http/reply/error-reply.ts. */
export const SucceededWith = <Members extends TProperties>(members: Members) => Type.Object({ ...members, success: Type.Literal(true) });

export const succeeded = <Members extends object>(members: Members): Members & { success: true } => ({ ...members, success: true });
