import { Type } from "@sinclair/typebox";

export const TextOrNull = Type.Unsafe<string | null>({ type: ["string", "null"] });
