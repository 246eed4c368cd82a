import { type TSchema, Type } from "@sinclair/typebox";

/** Envelope of a reply that is one thing. */
export const DataOf = <Resource extends TSchema>(resource: Resource) => Type.Object({ data: resource });
