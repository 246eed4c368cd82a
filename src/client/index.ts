/** `portico/client`: calls a node, from Node.js, browsers, Deno and Bun. */

export { type Client, createClient, type RequestOptions } from "./create-client.js";
export type { ChangesOptions, FollowOptions, Selected } from "./follow.js";
export type { List, Page } from "./list.js";
export type { Operations } from "./operations.js";
export type { WithProof } from "./proof.js";
export type * from "./schemas.js";
export { type CallOptions, type ClientOptions, type ClientRequest, PorticoClientError, TransportError } from "./transport.js";
export { fromToken, toToken } from "./values.js";
