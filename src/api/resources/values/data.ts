import { type TSchema, Type } from "@sinclair/typebox";

/** The envelope of a reply with a single object. */
export const DataOf = <Resource extends TSchema>(resource: Resource) => Type.Object({ data: resource });
