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
    meaning: "Any of these authenticates a request. If there are none, one is generated and kept in the data folder.",
    check: tokens,
  },
  allowTargets: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Private or otherwise special addresses and networks that targets may have.",
    check: networks,
  },
  events: { default: [], unit: "names", meaning: "Events that the host emits in addition to the known ones.", check: texts },
  schedule: {
    default: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
    unit: "milliseconds",
    meaning: "Waits after the first, second, ... failed attempt. When an attempt fails after the last wait, the delivery is dead.",
    check: wholes,
  },
  concurrencyPerTarget: { default: 4, unit: "attempts", meaning: "Most concurrent attempts to one target, and to one host and port; of the latter, those that take longer than 0.1 s no longer count, up to 16 times as many.", check: wholeFrom(1) },
  timeout: { default: 15 * second, unit: "milliseconds", meaning: "Limit for one attempt, from name resolution to the end of the response; if there is a status by then, it counts.", check: waitFrom(1) },
  disableAfter: { default: 5 * day, unit: "milliseconds", meaning: "A webhook whose every attempt has failed for this long is disabled.", check: wholeFrom(1) },
  deliveredRetention: { default: 2 * day, unit: "milliseconds", meaning: "How long delivered, dropped and superseded deliveries are kept.", check: wholeFrom(0) },
  deadRetention: { default: 90 * day, unit: "milliseconds", meaning: "How long dead deliveries are kept.", check: wholeFrom(0) },
  window: { default: 1_000, unit: "deliveries", meaning: "How many of a webhook may be unsettled at a time: while there are so many, its cursor waits.", check: wholeFrom(1) },
  maxWebhooks: {
    default: 1_000,
    unit: "webhooks",
    meaning: "How many there may be: creating one more is answered 409. Those that exist are kept, whatever the number.",
    check: wholeFrom(1),
  },
  deliver: {
    default: true,
    unit: "true or false",
    meaning: "Whether this process records events and delivers; `false` if another process does so for the same `webhooks.mdb`.",
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
const lakeMembers = offOr({ dir: text, blocksPerFile: wholeFrom(1), snapshotEvery: wholeFrom(0), keepSnapshots: wholeFrom(1) });
const lakeFault: Check = (value) => lakeMembers(value) ?? (isObject(value) && value.dir === undefined ? "needs `dir`, the folder of its files" : undefined);

/** Every option: its default, unit, meaning and check. The README's table is generated from this. */
export const optionTable: { readonly [Name in keyof Options]: Readonly<OptionRow<Options[Name]>> } = Object.freeze({
  basePath: { default: "/api", unit: "path", meaning: "Where the interface is mounted.", check: path },
  defaultVersion: { default: 2, unit: "1 or 2", meaning: "Generation that answers requests that name none.", check: oneOf(1, 2) },
  amounts: {
    default: "number",
    unit: '"number" or "string"',
    meaning: "How the second generation writes amounts, unless a request chooses: JSON numbers with all their digits, or decimal strings.",
    check: oneOf("number", "string"),
  },
  bodyLimit: { default: 1_048_576, unit: "bytes", meaning: "Largest accepted request body.", check: wholeFrom(1) },
  rateLimit: {
    default: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] },
    unit: "requests; addresses or CIDR",
    meaning:
      "Requests per minute from one address, the work that they may cause (15 s a minute: a request that holds the process for longer than its share counts as several), and the addresses that are exempt; `false` switches the limit off.",
    check: offOr({ perMinute: wholeFrom(1), exempt: networks }),
  },
  trustedProxies: {
    default: [],
    unit: "addresses or CIDR",
    meaning: "Proxies whose `X-Forwarded-For` is trusted. One that asks over a unix socket counts as 127.0.0.1.",
    check: networks,
  },
  cors: {
    default: { origins: "*" },
    unit: '"*" or origins',
    meaning: "Origins whose pages may read replies in a browser; `false` switches CORS off.",
    check: offOr({ origins }),
  },
  compression: {
    default: { threshold: 1024 },
    unit: "bytes",
    meaning: "Reply bodies of this size or more are compressed; `false` switches compression off.",
    check: offOr({ threshold: wholeFrom(0) }),
  },
  cacheSize: { default: 67_108_864, unit: "bytes", meaning: "Memory for replies to repeated requests, kept until the tip moves; up to twice as much while those for the next tip are prepared.", check: wholeFrom(0) },
  hostTimeout: {
    default: 10_000,
    unit: "milliseconds",
    meaning: "How long the host's pool, peers and sync, and each answer of its own chain, may take while a request waits for it; after that the request is answered with 503.",
    check: waitFrom(1),
  },
  maxConnections: { default: 5_000, unit: "connections", meaning: "Connections that may be open at a time to servers that `listen` made, and 256 from one address unless `rateLimit.exempt` or `trustedProxies` names it; further ones are closed.", check: wholeFrom(1) },
  stopTimeout: { default: 10_000, unit: "milliseconds", meaning: "How long `stop()` waits for open requests; and then, but no longer than 2 s, for calls that the host's own chain has not answered.", check: waitFrom(0) },
  history: {
    default: true,
    unit: "true or false",
    meaning: "Whether the states at earlier heights are kept and served (`at`); `false` costs nothing, and they are answered with 501.",
    check: oneOf(true, false),
  },
  undoBlocks: { default: 1_000, unit: "blocks", meaning: "How far back the chain can be reverted. If the host goes back further, the store is rebuilt from `blocks`.", check: wholeFrom(1) },
  finality: { default: undefined, unit: "blocks", meaning: "How far behind the tip a block counts as final. Default: twice the number of active delegates at the tip.", check: wholeFrom(0) },
  followOrphans: {
    default: 30 * day,
    unit: "milliseconds",
    meaning: "How long blocks taken off the chain are kept: a reader that has seen one and comes back within this time is told of its reversal.",
    check: wholeFrom(0),
  },
  followHostEvents: { default: 7 * day, unit: "milliseconds", meaning: "How long the host's own events are kept, up to 1 GiB of them, for readers that come back.", check: wholeFrom(0) },
  maxStreams: { default: 1_000, unit: "streams", meaning: "Event streams and change streams that may be open at a time; one more is answered with 503.", check: wholeFrom(0) },
  console: { default: false, unit: "true or false", meaning: "Whether `/console` is there: a page that shows the chain and the node, and manages webhooks with their token.", check: yesOrNo },
  metrics: {
    default: false,
    unit: "true, false or an object",
    meaning: "Whether `/metrics` answers Prometheus; with a `token`, only clients that send it as `Authorization: Bearer`.",
    check: metricsSetting,
  },
  logClients: { default: false, unit: "true or false", meaning: "Whether the access log names each client's address, as the rate limit counts it (`trustedProxies`).", check: yesOrNo },
  staleAfter: {
    default: 5,
    unit: "block times",
    meaning: "Without a block for this long, `/health/ready` says `stale`; `false` for a node that is not meant to move.",
    check: falseOr(above(0)),
  },
  lake: {
    default: false,
    unit: "an object, or false",
    meaning: "Final blocks in files that never change: `{dir, blocksPerFile, snapshotEvery, keepSnapshots}`, served at `/lake`.",
    check: lakeFault,
  },
  webhooks: {
    default: webhookDefaults,
    unit: "an object, or false",
    meaning: "The webhook engine, with the options that follow; `false` switches it off.",
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
