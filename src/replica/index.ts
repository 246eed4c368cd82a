export { createFollowedNode } from "./create-followed-node.js";
export type { TipSource } from "./tip-source.js";
export { interfaceUrl } from "./node-client.js";
