export { createFollowedNode } from "./create-followed-node.js";
export { interfaceUrl } from "./node-client.js";
