export { createFollowedNode } from "./create-followed-node.js";
export type { TipSource } from "./tip-source.js";
export { interfaceMeant } from "./node/node-url.js";
