export { createApiPlugin } from "./plugin.js";
export { errorTable, PorticoError } from "./errors.js";
export { defaultOptions } from "./options.js";
export { version } from "./version.js";
export type * from "../types/chain.js";
export type * from "../types/chain-adapter.js";
export type * from "../types/events.js";
export type * from "../types/node-context.js";
export type * from "../types/transaction-type.js";
