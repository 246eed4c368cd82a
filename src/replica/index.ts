export { createFollowedNode } from "./create-followed-node.js";
export type { TipSource } from "./changes.js";
export { interfaceMeant } from "./node-client.js";
