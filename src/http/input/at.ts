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

/** The routes that take it. A test holds this to them, and to the README. */
export const atTakers =
  "/blocks, /delegates and /votes with all below them; /transactions with its search, {id}, fees and types; /wallets/{id} with its transactions, votes, history and statement; " +
  "/rounds/{id}/delegates, /blockchain, /node/configuration and /node/fees";

/** For what is not kept for earlier heights: `what` cannot be told. */
export const notAtHeight = (what: string): PorticoError =>
  new PorticoError("NOT_AT_HEIGHT", `${what}. These take "at": ${atTakers}. Blocks, transactions and votes are listed by height or timestamp then.`, { validation: { source: "query", keys: ["at"] } });

/** @throws PorticoError NOT_AT_HEIGHT if a route that does not take `at` is asked with it */
export const refuseAt = (pairs: QueryPairs): void => {
  if (pairs.some(([name]) => name === "at")) throw notAtHeight('"at" is not taken here');
};
