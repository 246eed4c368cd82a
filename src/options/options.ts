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

/** Every option of the webhook engine: its default and check. `types/webhook-options.ts` says what it means. */
export const webhookOptionTable: { readonly [Name in keyof WebhookOptions]-?: Readonly<OptionRow<NonNullable<WebhookOptions[Name]>>> } = Object.freeze({
  tokens: { default: [], check: tokens },
  allowTargets: { default: [], check: networks },
  events: { default: [], check: texts },
  schedule: { default: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour], check: wholes },
  concurrencyPerTarget: { default: 4, check: wholeFrom(1) },
  timeout: { default: 15 * second, check: waitFrom(1) },
  disableAfter: { default: 5 * day, check: wholeFrom(1) },
  deliveredRetention: { default: 2 * day, check: wholeFrom(0) },
  deadRetention: { default: 90 * day, check: wholeFrom(0) },
  window: { default: 1_000, check: wholeFrom(1) },
  maxWebhooks: { default: 1_000, check: wholeFrom(1) },
  deliver: { default: true, check: yesOrNo },
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

/** Every option: its default and check. `types/options.ts` says what it means. */
export const optionTable: { readonly [Name in keyof Options]: Readonly<OptionRow<Options[Name]>> } = Object.freeze({
  basePath: { default: "/api", check: path },
  defaultVersion: { default: 2, check: oneOf(1, 2) },
  amounts: { default: "number", check: oneOf("number", "string") },
  bodyLimit: { default: 1_048_576, check: wholeFrom(1) },
  rateLimit: { default: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] }, check: offOr({ perMinute: wholeFrom(1), exempt: networks }) },
  trustedProxies: { default: [], check: networks },
  cors: { default: { origins: "*" }, check: offOr({ origins }) },
  compression: { default: { threshold: 1024 }, check: offOr({ threshold: wholeFrom(0) }) },
  cacheSize: { default: 67_108_864, check: wholeFrom(0) },
  hostTimeout: { default: 10_000, check: waitFrom(1) },
  maxConnections: { default: 5_000, check: wholeFrom(1) },
  stopTimeout: { default: 10_000, check: waitFrom(0) },
  history: { default: true, check: oneOf(true, false) },
  undoBlocks: { default: 1_000, check: wholeFrom(1) },
  finality: { default: undefined, check: wholeFrom(0) },
  followOrphans: { default: 30 * day, check: wholeFrom(0) },
  followHostEvents: { default: 7 * day, check: wholeFrom(0) },
  maxStreams: { default: 1_000, check: wholeFrom(0) },
  console: { default: false, check: yesOrNo },
  metrics: { default: false, check: metricsSetting },
  logClients: { default: false, check: yesOrNo },
  staleAfter: { default: 5, check: falseOr(above(0)) },
  lake: { default: false, check: lakeFault },
  webhooks: {
    default: webhookDefaults,
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
