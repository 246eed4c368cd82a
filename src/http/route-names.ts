import type { Route, Scope } from "./route.js";

/** `wallets` → `wallet`, `deliveries` → `delivery`. */
const singular = (plural: string): string => (plural.endsWith("ies") ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, ""));

const isParameter = (segment: string | undefined): boolean => segment?.startsWith("{") === true;

/** `dry-run` → `DryRun`. */
const capitalized = (segment: string): string => segment.split(/[^A-Za-z0-9]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");

/** The things that a path names: `/wallets/{id}/votes` → `WalletVotes`. Of the first generation's `blocks/getFee`, `BlocksFee`. */
const thingsOf = (segments: readonly string[]): string =>
  segments
    .map((segment, index) => (isParameter(segments[index + 1]) || segments[index + 1] === "get" ? singular(segment) : segment))
    .filter((segment) => !isParameter(segment) && segment !== "get")
    .map((segment) => capitalized(segment.replace(/^get(?=[A-Z])/, "")))
    .join("");

const verbs = { GET: "get", PUT: "replace", PATCH: "update", DELETE: "delete" } as const;

/**
 * The name of a route, of words: its `operation`, otherwise one made from method and path: `getWalletVotes`, `searchBlocks`, `pingWebhook`.
 * The OpenAPI document has it as `operationId`, the router handed to hosts as the layer's name.
 */
export const routeName = <State extends Scope>({ operation, method, path, versions }: Route<State>): string => {
  if (operation !== undefined) return operation;
  const generation = versions.includes(2) ? "" : "V1";
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length === 0) return "getRoot";
  if (method !== "POST") return verbs[method] + generation + thingsOf(segments);
  const last = segments.at(-1) ?? "";
  const before = segments.slice(0, -1);
  if (last === "search") return `search${thingsOf(before)}`;
  // What is done to a thing, such as /webhooks/{id}/ping, or else a thing that is made.
  return isParameter(before.at(-1)) ? last + thingsOf(before) : `create${thingsOf([...before, singular(last)])}`;
};
