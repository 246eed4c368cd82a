import type { PorticoOptions } from "../../types/options.js";
import { amongKnown } from "../text/known-names.js";
import { PorticoError } from "../errors.js";
import {
  above,
  type Check,
  falseOr,
  isObject,
  metricsSetting,
  networks,
  offOr,
  oneOf,
  type OptionRow,
  origins,
  path,
  shortestToken,
  text,
  texts,
  tokens,
  waitFrom,
  wholeFrom,
  wholes,
  yesOrNo,
} from "./checks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";

/** The object form of an option (where it may also be false) has every member. */
type Filled<T> = T extends string | number | boolean | readonly unknown[] ? T : { [Member in keyof T]-?: NonNullable<T[Member]> };

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Every option of the webhook engine: its default, unit, meaning and check. */
export const webhookOptionTable: { readonly [Name in keyof WebhookOptions]-?: Readonly<OptionRow<NonNullable<WebhookOptions[Name]>>> } = Object.freeze({
  tokens: {
    default: [],
    unit: `texts of ${shortestToken} characters or more`,
    meaning: "Any of these authenticates a request. Default: one is generated and kept in the data folder.",
    check: tokens,
  },
  allowTargets: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Private or special addresses that targets may have.",
    check: networks,
  },
  events: { default: [], unit: "names", meaning: "Events that the host emits besides the known ones.", check: texts },
  schedule: {
    default: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    unit: "milliseconds",
    meaning: "Waits after the first, second, ... failed attempt; after the last, the delivery is dead.",
    check: wholes,
  },
  concurrencyPerTarget: { default: 4, unit: "attempts", meaning: "Concurrent attempts to one target, and to one host and port; to the latter up to 16 times as many if they take longer than 0.1 s.", check: wholeFrom(1) },
  timeout: { default: 15 * second, unit: "milliseconds", meaning: "Limit for one attempt, from name resolution to the end of the response; a status received by then counts.", check: waitFrom(1) },
  disableAfter: { default: 5 * day, unit: "milliseconds", meaning: "A webhook whose attempts all fail for this long is disabled.", check: wholeFrom(1) },
  deliveredRetention: { default: 2 * day, unit: "milliseconds", meaning: "How long delivered, dropped and superseded deliveries are kept.", check: wholeFrom(0) },
  deadRetention: { default: 90 * day, unit: "milliseconds", meaning: "How long dead deliveries are kept.", check: wholeFrom(0) },
  window: { default: 1_000, unit: "deliveries", meaning: "Open deliveries of one webhook, at most; meanwhile its cursor waits.", check: wholeFrom(1) },
  maxWebhooks: {
    default: 1_000,
    unit: "webhooks",
    meaning: "How many may be created; more get 409.",
    check: wholeFrom(1),
  },
  deliver: {
    default: true,
    unit: "true or false",
    meaning: "Whether this process records and delivers; `false` if another does so for the same `webhooks.mdb`.",
    check: yesOrNo,
  },
});

export const webhookDefaults = Object.freeze(
  Object.fromEntries(Object.entries(webhookOptionTable).map(([name, row]) => [name, row.default])),
) as Readonly<Filled<WebhookOptions>>;

/** All options, with defaults filled in. */
export type Options = { [Name in Exclude<keyof PorticoOptions, "finality">]-?: Filled<NonNullable<PorticoOptions[Name]>> } & {
  /** Undefined: see `finalityAt`. */
  finality: number | undefined;
};

/** What the HTTP edge takes of them. */
export type EdgeOptions = Readonly<
  Pick<
    Options,
    | "basePath"
    | "defaultVersion"
    | "amounts"
    | "bodyLimit"
    | "rateLimit"
    | "trustedProxies"
    | "maxConnections"
    | "cors"
    | "compression"
    | "maxStreams"
    | "cacheSize"
  >
>;

const lakeMembers = offOr({ dir: text, blocksPerFile: wholeFrom(1), snapshotEvery: wholeFrom(0), keepSnapshots: wholeFrom(1) });
const lakeFault: Check = (value) =>
  lakeMembers(value) ?? (isObject(value) && value.dir === undefined ? "needs `dir`, the folder of its files" : undefined);

/** Every option: its default, unit, meaning and check. The README's table is generated from this. */
export const optionTable: { readonly [Name in keyof Options]: Readonly<OptionRow<Options[Name]>> } = Object.freeze({
  basePath: { default: "/api", unit: "path", meaning: "Where the API is mounted.", check: path },
  defaultVersion: { default: 2, unit: "1 or 2", meaning: "Version that answers requests that name none.", check: oneOf(1, 2) },
  amounts: {
    default: "number",
    unit: '"number" or "string"',
    meaning: "How v2 writes amounts unless a request chooses: JSON numbers with all digits, or decimal strings.",
    check: oneOf("number", "string"),
  },
  bodyLimit: { default: 1_048_576, unit: "bytes", meaning: "Largest accepted request body.", check: wholeFrom(1) },
  rateLimit: {
    default: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] },
    unit: "requests; addresses or CIDR",
    meaning:
      "Requests per minute from one address, and exempt addresses. A request that holds the process longer than its share of 15 s a minute counts as several. `false`: no limit.",
    check: offOr({ perMinute: wholeFrom(1), exempt: networks }),
  },
  trustedProxies: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Proxies whose `X-Forwarded-For` is trusted. A unix socket counts as 127.0.0.1.",
    check: networks,
  },
  cors: {
    default: { origins: "*" },
    unit: '"*" or origins',
    meaning: "Origins whose pages may read replies; `false`: no CORS.",
    check: offOr({ origins }),
  },
  compression: {
    default: { threshold: 1024 },
    unit: "bytes",
    meaning: "Bodies of this size or more are compressed; `false`: none.",
    check: offOr({ threshold: wholeFrom(0) }),
  },
  cacheSize: { default: 67_108_864, unit: "bytes", meaning: "Memory for repeated replies; up to twice as much while the tip moves.", check: wholeFrom(0) },
  hostTimeout: {
    default: 10_000,
    unit: "milliseconds",
    meaning: "How long a request waits for the host's pool, peers, sync, and each call of its own chain, before it gets 503.",
    check: waitFrom(1),
  },
  maxConnections: { default: 5_000, unit: "connections", meaning: "Open connections to servers made by `listen`; 256 from one address unless `rateLimit.exempt` or `trustedProxies` names it. Others are closed.", check: wholeFrom(1) },
  stopTimeout: { default: 10_000, unit: "milliseconds", meaning: "How long `stop()` waits for open requests.", check: waitFrom(0) },
  history: {
    default: true,
    unit: "true or false",
    meaning: "Whether states at earlier heights (`at`) are kept and served.",
    check: oneOf(true, false),
  },
  undoBlocks: { default: 1_000, unit: "blocks", meaning: "How far the chain can be reverted; beyond, the store is rebuilt from `blocks`.", check: wholeFrom(1) },
  finality: { default: undefined, unit: "blocks", meaning: "How far behind the tip a block is final. Default: twice the number of active delegates.", check: wholeFrom(0) },
  followOrphans: {
    default: 30 * day,
    unit: "milliseconds",
    meaning: "How long reverted blocks are kept for readers that come back.",
    check: wholeFrom(0),
  },
  followHostEvents: { default: 7 * day, unit: "milliseconds", meaning: "How long host events are kept, up to 1 GiB.", check: wholeFrom(0) },
  maxStreams: { default: 1_000, unit: "streams", meaning: "Open event and change streams; more get 503.", check: wholeFrom(0) },
  console: { default: false, unit: "true or false", meaning: "Whether `/console` is served.", check: yesOrNo },
  metrics: {
    default: false,
    unit: "true, false or an object",
    meaning: "Whether `/metrics` is served; `{token}`: only to clients that send `Authorization: Bearer` with it.",
    check: metricsSetting,
  },
  logClients: { default: false, unit: "true or false", meaning: "Whether the access log has client addresses, as the rate limit counts them.", check: yesOrNo },
  staleAfter: {
    default: 5,
    unit: "block times",
    meaning: "Without a block for this long, `/health/ready` says `stale`; `false`: never.",
    check: falseOr(above(0)),
  },
  lake: {
    default: false,
    unit: "an object, or false",
    meaning: "`{dir, blocksPerFile, snapshotEvery, keepSnapshots}`: a lake, served at `/lake`.",
    check: lakeFault,
  },
  webhooks: {
    default: webhookDefaults,
    unit: "an object, or false",
    meaning: "Webhooks, with the options below; `false`: none.",
    check: offOr(Object.fromEntries(Object.entries(webhookOptionTable).map(([name, { check }]) => [name, check]))),
  },
});

/** What a lake has besides its folder. */
export const lakeDefaults = Object.freeze({ blocksPerFile: 10_000, snapshotEvery: 100_000, keepSnapshots: 2 });

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
      throw new PorticoError("OPTION_INVALID", `options.${name} is not an option${amongKnown(name, optionNames)}`);
    }
    if (value === undefined) continue;
    const wrong = optionTable[name as keyof Options].check(value);
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `options.${name} ${wrong}`);
    options[name] = isObject(value) ? { ...(options[name] as object), ...givenMembers(value) } : value;
  }
  return Object.freeze(options) as unknown as Options;
};
