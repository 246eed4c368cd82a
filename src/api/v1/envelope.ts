import { type TProperties, Type } from "@sinclair/typebox";

/** What all routes of the first generation have in common. Deployed clients send parameters that no route ever read. */
export const firstGeneration = { method: "GET", versions: [1], ignoresUnknownQuery: true } as const;

/** Schema of a reply: its own members beside `success`. What went wrong is told in the same form, by src/http/failure.ts. */
export const SucceededWith = <Members extends TProperties>(members: Members) => Type.Object({ ...members, success: Type.Literal(true) });

export const succeeded = <Members extends object>(members: Members): Members & { success: true } => ({ ...members, success: true });
