import { type TOptional, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Block } from "../../types/chain.js";
import type { FilterBy, ListQuery, Page, Range as Bounds } from "../../types/chain-queries.js";
import { andThen } from "../async/maybe-promise.js";
import type { List, ListFilter } from "../chain/lists.js";
import { Amount as AmountInput, amountUnit, DecimalNumber, Flag, InputOf, ListOf, Range, Text, TimeRange, WholeNumber } from "../http/input/schema.js";
import type { PageAnswer, PageRequest } from "../http/route.js";
import { isDigits } from "../text/digits.js";
import type { ApiState } from "./state.js";

export const TextOrNull = Type.Unsafe<string | null>({ type: ["string", "null"] });

/** The envelope of a reply with a single object. */
export const DataOf = <Resource extends TSchema>(resource: Resource) => Type.Object({ data: resource });

/** An object that is passed through unchanged from the chain or the host. */
export const OpenObject = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });

/**
 * An amount in a reply: a whole number of 1e-8 of the token, written with all its digits. `x-amount` marks it for the
 * request or the option `amounts`, which makes all of these decimal strings.
 */
export const Amount = Type.Unsafe<bigint>({
  type: "integer",
  "x-amount": true,
  description: "Whole number of 1e-8 of the token, with all its digits.",
});

/** An amount that is always a decimal string, whatever the form of the others. */
export const AmountText = Type.String({ pattern: "^-?[0-9]+$", "x-amount": "text", description: "Whole number of 1e-8 of the token." });

/** The same, where there may be none. */
export const AmountOrNone = Type.String({ pattern: "^(-?[0-9]+)?$", "x-amount": "text", description: "Whole number of 1e-8 of the token; empty where there is none." });

/** An amount among a network's constants: always a number, whatever the form of the others. */
export const ConstantAmount = Type.Unsafe<bigint>({ type: "integer", "x-amount": "constant", description: "Whole number of 1e-8 of the token." });

/** Made by `Epoch.timestamp` in src/chain/epoch.ts. */
export const TimestampResource = Type.Object(
  {
    epoch: Type.Integer({ description: "Seconds since the network's epoch." }),
    unix: Type.Integer({ description: "Seconds since 1970." }),
    human: Type.String({ description: "ISO 8601, UTC, with milliseconds." }),
  },
  { title: "Timestamp" },
);

// Input types of the values by which lists are filtered.

/** A search for what is no digit, as a repetition would take stack for each of the digits (see `endOfDigits`). */
const isHex = (text: string): boolean => text !== "" && !/[^0-9a-fA-F]/.test(text);

const hexText = (description: string, digits?: number) =>
  InputOf<string>(
    {
      parse: (value) =>
        typeof value === "string" && isHex(value) && (digits === undefined || value.length === digits)
          ? { value: value.toLowerCase() }
          : { rule: digits === undefined ? "must be hexadecimal digits" : `must be ${digits} hexadecimal digits` },
      accepts: { type: "string", pattern: digits === undefined ? "^[0-9a-fA-F]+$" : `^[0-9a-fA-F]{${digits}}$` },
    },
    { description },
  );

/** Puts a hash or public key from a path into lower case, as adapters expect; leaves any other name as it is. */
export const inKnownCase = (name: string): string =>
  (name.length === 64 || name.length === 66) && isHex(name) ? name.toLowerCase() : name;

/** The block at a height written in digits; undefined for anything else, and for heights above the tip. */
const blockAtHeight = (name: string, { chain }: ApiState): MaybePromise<Block | undefined> =>
  isDigits(name) && Number(name) <= chain.tip.height ? chain.block({ height: Number(name) }) : undefined;

/** The id of the block that a filter names. Digits are tried as a height first; if there is no such block, the name is the id. */
export const blockIdNamed = (name: string, state: ApiState): MaybePromise<string> =>
  andThen(blockAtHeight(name, state), (block) => block?.id ?? name);

/** A block by height or id; digits are tried as a height first. */
export const blockNamed = async (name: string, state: ApiState): Promise<Block | undefined> =>
  (await blockAtHeight(name, state)) ?? (await state.chain.block({ id: name.toLowerCase() }));

export const Hex = hexText("Hexadecimal digits.");
export const Hash = hexText("64 hexadecimal digits.", 64);
export const PublicKey = hexText("Public key: 66 hexadecimal digits.", 66);

/** Only the form is checked: filtering by an address without a wallet gives an empty list. */
export const Address = InputOf<string>(
  {
    parse: (value) =>
      typeof value === "string" && /^[0-9A-Za-z]{1,64}$/.test(value)
        ? { value }
        : { rule: "must be an address: up to 64 letters and digits" },
    accepts: { type: "string", pattern: "^[0-9A-Za-z]+$", maxLength: 64 },
  },
  { description: "Address." },
);

export const BlockId = InputOf<string>(
  {
    parse: (value) =>
      typeof value === "string" && /^([0-9]{1,20}|[0-9a-fA-F]{64})$/.test(value)
        ? { value: value.toLowerCase() }
        : { rule: "must be up to 20 decimal or 64 hexadecimal digits" },
    accepts: { type: "string", pattern: "^([0-9]{1,20}|[0-9a-fA-F]{64})$" },
  },
  { description: "Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height." },
);

type Inputs<Filters extends List["filters"]> = {
  -readonly [Name in keyof Filters]: TOptional<TUnsafe<NonNullable<FilterBy<Filters>[Name]>>>;
};

const ofKind = ({ kind, minimum, maximum }: ListFilter, said: { description?: string }): TSchema => {
  if (kind === "address") return Address;
  if (kind === "publicKey") return PublicKey;
  if (kind === "hash") return Hash;
  if (kind === "hex") return Hex;
  if (kind === "blockId") return BlockId;
  if (kind === "amount" || kind === "count") return AmountInput(said);
  if (kind === "flag") return Flag(said);
  if (kind === "decimal") return DecimalNumber(said);
  if (kind === "number")
    return WholeNumber({ ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }), ...said });
  return Text(said);
};

const inputOf = (filter: ListFilter, { exact }: { exact: boolean }): TSchema => {
  const { kind, by, about, most = 1 } = filter;
  const description = kind === "amount" && about !== undefined ? `${about} ${amountUnit}` : about;
  const said = description === undefined ? {} : { description };
  if (by === "any") return ListOf(ofKind(filter, {}), { minItems: 1, maxItems: most, ...said });
  if (by !== "range") return ofKind(filter, said);
  const range = { exact: exact || filter.exact === true, ...said };
  return kind === "time" ? TimeRange(range) : Range(ofKind(filter, {}), range);
};

/** What clients may filter a list by. `exact`: a single value may take the place of a range. */
export const inputsOf = <Filters extends List["filters"]>(filters: Filters, exactly: { exact: boolean }): Inputs<Filters> =>
  Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, Type.Optional(inputOf(filter, exactly))])) as Inputs<Filters>;

/** What a list route asks for: rows, order and page. `filter` is undefined if no row can pass. */
export interface ListRequest<Filter, Order> {
  filter: Filter | undefined;
  orderBy: Order;
  page: PageRequest;
}

/** Asks for one page and presents its rows. */
export const pageOf = <Filter, Field extends string, Row, Item>(
  { filter, orderBy, page }: ListRequest<Filter, ListQuery<Filter, Field>["order"]>,
  ask: (query: ListQuery<Filter, Field>) => MaybePromise<Page<Row>>,
  present: (row: Row) => Item,
): MaybePromise<PageAnswer<Item>> => {
  if (filter === undefined) return { rows: [], total: 0 };
  return andThen(ask({ filter, order: orderBy, ...page }), ({ rows, total }) => ({ rows: rows.map(present), total }));
};

/** The intersection of two ranges. */
export const overlap = <T extends bigint | number>(a: Bounds<T> | undefined, b: Bounds<T> | undefined): Bounds<T> | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const from = a.from === undefined || (b.from !== undefined && b.from > a.from) ? b.from : a.from;
  const to = a.to === undefined || (b.to !== undefined && b.to < a.to) ? b.to : a.to;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};

/**
 * Adds to the filter what the path fixes, as `/delegates/{id}/blocks` does the generator. Undefined if the caller's filter has
 * another value for the same member: both would have to hold, so no row can pass.
 */
export const within = <Filter extends object>(filter: Filter, fixed: Partial<Filter>): Filter | undefined => {
  for (const key of Object.keys(fixed) as (keyof Filter)[]) {
    if (filter[key] !== undefined && filter[key] !== fixed[key]) return undefined;
  }
  return { ...filter, ...fixed };
};

/** Bytes that the body of a search may have: some 450 addresses, or as many ids. */
export const largestSearch = 16_384;
