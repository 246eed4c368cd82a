import type { PorticoOptions } from "../types/node-context.js";
import type { WebhookOptions } from "../types/webhooks.js";
import { PorticoError } from "./errors.js";
import { networkRangeOf } from "./network-range.js";
import { webhookDefaults } from "./webhooks/defaults.js";

/** All options, with defaults filled in. */
export type Options = { [Name in keyof Required<PorticoOptions>]: Filled<NonNullable<PorticoOptions[Name]>> };
/** The object form of an option (where it may also be false) has every member. */
type Filled<T> = T extends string | number | boolean | readonly unknown[] ? T : { [Member in keyof T]-?: NonNullable<T[Member]> };

/** Says what is wrong with a value; undefined if nothing is. */
type Check = (value: unknown) => string | undefined;

interface Option<T> {
  default: T;
  unit: string;
  meaning: string;
  check: Check;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);

const wholeFrom =
  (minimum: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= minimum ? undefined : `must be a whole number from ${minimum}`;

/** Longest delay of a Node.js timer, in milliseconds; a longer one fires at once. */
const longestWait = 2_147_483_647;

/** A delay in milliseconds that a timer can take. */
const waitFrom =
  (minimum: number): Check =>
  (value) =>
    wholeFrom(minimum)(value) === undefined && (value as number) <= longestWait ? undefined : `must be a whole number from ${minimum} to ${longestWait}`;

const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;

const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "must be a list of strings";

const networks: Check = (value) => {
  const fault = texts(value);
  if (fault !== undefined) return fault;
  const wrong = (value as string[]).find((item) => networkRangeOf(item) === undefined);
  return wrong === undefined ? undefined : `must be a list of addresses and networks (CIDR), not "${wrong}"`;
};

const wholes: Check = (value) =>
  Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && (item as number) >= 0) ? undefined : "must be a list of whole numbers";

const part: Check = (value) => (typeof value === "number" && value >= 0 && value <= 1 ? undefined : "must be a number from 0 to 1");

const yesOrNo: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");

const offOr =
  (members: Record<string, Check>): Check =>
  (value) => {
    if (value === false) return undefined;
    if (!isObject(value)) return "must be false or an object";
    for (const [name, member] of Object.entries(value) as [string, unknown][]) {
      const check = members[name];
      if (check === undefined) return `has no member "${name}"`;
      const wrong = member === undefined ? undefined : check(member);
      if (wrong !== undefined) return `${name} ${wrong}`;
    }
    return undefined;
  };

const path: Check = (value) =>
  typeof value === "string" && /^(?:\/[\w.~-]+)*$/.test(value) ? undefined : 'must be a path such as "/api", without a slash at its end';

/** Every option: its default, unit, meaning and check. The README's table is generated from this. */
export const optionTable: { readonly [Name in keyof Options]: Readonly<Option<Options[Name]>> } = Object.freeze({
  basePath: { default: "/api", unit: "path", meaning: "Where the interface is mounted.", check: path },
  defaultVersion: { default: 2, unit: "1 or 2", meaning: "Generation that answers requests that name none.", check: oneOf(1, 2) },
  amounts: {
    default: "number",
    unit: '"number" or "string"',
    meaning: "How the second generation writes amounts: JSON numbers with all their digits, or decimal strings.",
    check: oneOf("number", "string"),
  },
  bodyLimit: { default: 1_048_576, unit: "bytes", meaning: "Largest accepted request body.", check: wholeFrom(1) },
  rateLimit: {
    default: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] },
    unit: "requests; addresses or CIDR",
    meaning: "Requests per minute from one address, and the addresses that are exempt; `false` switches the limit off.",
    check: offOr({ perMinute: wholeFrom(1), exempt: networks }),
  },
  trustedProxies: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Proxies whose `X-Forwarded-For` is trusted.",
    check: networks,
  },
  cors: {
    default: { origins: "*" },
    unit: '"*" or origins',
    meaning: "Origins whose pages may read replies in a browser; `false` switches CORS off.",
    check: offOr({ origins: (value) => (value === "*" ? undefined : texts(value)) }),
  },
  compression: {
    default: { threshold: 1024 },
    unit: "bytes",
    meaning: "Reply bodies of this size or more are compressed; `false` switches compression off.",
    check: offOr({ threshold: wholeFrom(0) }),
  },
  cacheSize: { default: 67_108_864, unit: "bytes", meaning: "Memory for replies to repeated requests, kept until the tip moves; up to twice as much while those for the next tip are prepared.", check: wholeFrom(0) },
  searchRows: {
    default: 250_000,
    unit: "rows",
    meaning: "Rows of the store that one request may look at where no index has the answer. A request that needs more gets a 400.",
    check: wholeFrom(1),
  },
  stopTimeout: { default: 10_000, unit: "milliseconds", meaning: "How long `stop()` waits for open requests.", check: waitFrom(0) },
  undoBlocks: { default: 1_000, unit: "blocks", meaning: "How far back the chain can be reverted.", check: wholeFrom(1) },
  webhooks: {
    default: webhookDefaults,
    unit: "milliseconds, unless stated otherwise",
    meaning: "The webhook engine; `false` switches it off.",
    check: offOr({
      tokens: texts,
      allowTargets: networks,
      events: texts,
      schedule: wholes,
      jitter: part,
      concurrency: wholeFrom(1),
      concurrencyPerTarget: wholeFrom(1),
      ordered: yesOrNo,
      timeout: waitFrom(1),
      responseLimit: wholeFrom(0),
      disableAfter: wholeFrom(1),
      rotationOverlap: wholeFrom(0),
      deliveredRetention: wholeFrom(0),
      deadRetention: wholeFrom(0),
      recentEvents: wholeFrom(0),
      deliver: yesOrNo,
    } satisfies Record<keyof WebhookOptions, Check>),
  },
});

const optionNames = Object.keys(optionTable) as (keyof Options)[];

const deepFreeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
};

/** Every option's default. */
export const defaultOptions: Readonly<Options> = deepFreeze(
  Object.fromEntries(optionNames.map((name) => [name, structuredClone(optionTable[name].default)])),
) as unknown as Options;

const givenMembers = (value: object): object => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));

/** Fills in defaults. @throws PorticoError OPTION_INVALID for an unknown option or an invalid value. */
export const readOptions = (given: PorticoOptions = {}): Readonly<Options> => {
  const options: Record<string, unknown> = { ...defaultOptions };
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (!Object.hasOwn(optionTable, name)) {
      throw new PorticoError("OPTION_INVALID", `options.${name} is not an option; the options are ${optionNames.join(", ")}`);
    }
    if (value === undefined) continue;
    const wrong = optionTable[name as keyof Options].check(value);
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `options.${name} ${wrong}`);
    options[name] = isObject(value) ? { ...(options[name] as object), ...givenMembers(value) } : value;
  }
  return Object.freeze(options) as unknown as Options;
};
