import { Ajv, type Options } from "ajv";

export type SchemaCompiler = Ajv;

/**
 * The one compiler of the schemas by which Portico checks what comes from outside: what a host hands in, and what clients send, webhooks
 * among it. A schema with an unknown keyword is refused when it is compiled.
 */
export const createSchemaCompiler = (options: Pick<Options, "useDefaults" | "verbose"> = {}): SchemaCompiler =>
  new Ajv({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false, ...options });
