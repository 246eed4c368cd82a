import { PorticoError } from "../../errors.js";
import type { QueryPairs } from "./query-string.js";
import { InputOf } from "./schema.js";

const form = /^([0-9]{1,20}|[0-9a-fA-F]{64})$/;

/** Names the block as of which a route answers. */
export const At = InputOf<string>(
  {
    parse: (value) =>
      typeof value === "string" && form.test(value) ? { value: value.toLowerCase() } : { rule: "must be a height, or the id of a block (up to 20 decimal or 64 hexadecimal digits)" },
    accepts: { type: "string", pattern: form.source },
  },
  { description: "Height or id of a block: the reply is the one given when that block was the tip." },
);

const takers =
  "/wallets/{id} and its transactions and votes, /delegates, blocks, transactions and votes (by height or timestamp), /rounds/{id}/delegates, /blockchain, /node/configuration and /node/fees take it";

/** For what is not kept for earlier heights: `what` cannot be told. */
export const notAtHeight = (what: string): PorticoError =>
  new PorticoError("NOT_AT_HEIGHT", `${what}: ${takers}.`, { validation: { source: "query", keys: ["at"] } });

/** @throws PorticoError NOT_AT_HEIGHT if a route that does not take `at` is asked with it */
export const refuseAt = (pairs: QueryPairs): void => {
  if (pairs.some(([name]) => name === "at")) throw notAtHeight('"at" is not taken here');
};
