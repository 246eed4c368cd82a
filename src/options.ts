import type { PorticoOptions } from "../types/node-context.js";
import { PorticoError } from "./errors.js";

/** All options, filled in. */
export interface Options {
  basePath: string;
  defaultVersion: 1 | 2;
  amounts: "number" | "string";
  bodyLimit: number;
  rateLimit: false | { perMinute: number; exempt: string[] };
  trustedProxies: string[];
  cors: false | { origins: "*" | string[] };
  compression: false | { threshold: number };
  cacheSize: number;
  stopTimeout: number;
  undoBlocks: number;
}

/** Every option with its default; the unit stands beside it. */
export const defaultOptions: Readonly<Options> = Object.freeze({
  /** Where the interface is mounted. */
  basePath: "/api",
  /** Generation of requests that name none. */
  defaultVersion: 2,
  /** How the second generation writes amounts. */
  amounts: "number",
  /** Bytes. */
  bodyLimit: 1_048_576,
  /** Requests a minute and address; addresses or CIDR. */
  rateLimit: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] },
  /** Addresses or CIDR. */
  trustedProxies: [],
  cors: { origins: "*" as const },
  /** Bytes. */
  compression: { threshold: 1024 },
  /** Bytes. */
  cacheSize: 67_108_864,
  /** Milliseconds. */
  stopTimeout: 10_000,
  /** Blocks. */
  undoBlocks: 1_000,
});

type Check = (value: unknown) => string | undefined;

const wholeFrom =
  (minimum: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= minimum ? undefined : `must be a whole number from ${minimum}`;

const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);

const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "must be a list of strings";

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

const checks: { [Name in keyof Options]: Check } = {
  basePath: (value) => (typeof value === "string" && /^(?:\/[\w.~-]+)+$/.test(value) ? undefined : 'must be a path such as "/api", without a slash at its end'),
  defaultVersion: oneOf(1, 2),
  amounts: oneOf("number", "string"),
  bodyLimit: wholeFrom(1),
  rateLimit: offOr({ perMinute: wholeFrom(1), exempt: texts }),
  trustedProxies: texts,
  cors: offOr({ origins: (value) => (value === "*" ? undefined : texts(value)) }),
  compression: offOr({ threshold: wholeFrom(0) }),
  cacheSize: wholeFrom(0),
  stopTimeout: wholeFrom(0),
  undoBlocks: wholeFrom(1),
};

/** Fills in what is not given. @throws PorticoError OPTION_INVALID for an unknown option or a value that is not valid. */
export const readOptions = (given: PorticoOptions = {}): Readonly<Options> => {
  const options: Record<string, unknown> = { ...defaultOptions };
  for (const [name, value] of Object.entries(given)) {
    if (!(name in checks)) {
      throw new PorticoError("OPTION_INVALID", `options.${name} is not known; there are ${Object.keys(checks).join(", ")}`);
    }
    if (value === undefined) continue;
    const wrong = checks[name as keyof Options](value);
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `options.${name} ${wrong}`);
    options[name] = isObject(value) ? { ...(options[name] as object), ...value } : value;
  }
  return Object.freeze(options) as unknown as Options;
};
