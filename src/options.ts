import type { PorticoOptions } from "../types/node-context.js";
import { PorticoError } from "./errors.js";

/** Every option with its default. The unit stands in the name or beside it. */
export const defaultOptions = Object.freeze({
  /** Where the interface is mounted. */
  basePath: "/api",
  /** Generation of requests that name none. */
  defaultVersion: 2 as 1 | 2,
  /** How the second generation writes amounts. */
  amounts: "number" as "number" | "string",
  /** Bytes. */
  bodyLimit: 1_048_576,
  /** Requests; addresses or CIDR. */
  rateLimit: Object.freeze({ perMinute: 300, exempt: ["127.0.0.0/8", "::1"] as string[] }) as false | { perMinute: number; exempt: string[] },
  /** Addresses or CIDR. */
  trustedProxies: [] as string[],
  cors: Object.freeze({ origins: "*" as "*" | string[] }) as false | { origins: "*" | string[] },
  /** Bytes. */
  compression: Object.freeze({ threshold: 1024 }) as false | { threshold: number },
  /** Bytes. */
  cacheSize: 67_108_864,
  /** Milliseconds. */
  stopTimeout: 10_000,
  /** Blocks. */
  undoBlocks: 1_000,
});

export type Options = typeof defaultOptions;

type Check = (value: unknown) => string | undefined;

const wholeFrom =
  (minimum: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= minimum ? undefined : `must be a whole number from ${minimum}`;

const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;

const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "must be a list of strings";

const offOr =
  (members: Record<string, Check>): Check =>
  (value) => {
    if (value === false) return undefined;
    if (typeof value !== "object" || value === null) return "must be false or an object";
    for (const [name, member] of Object.entries(value)) {
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
export const readOptions = (given: PorticoOptions = {}): Options => {
  const options: Record<string, unknown> = { ...defaultOptions };
  for (const [name, value] of Object.entries(given)) {
    if (!(name in checks)) {
      throw new PorticoError("OPTION_INVALID", `options.${name} is not known; there are ${Object.keys(checks).join(", ")}`);
    }
    if (value === undefined) continue;
    const wrong = checks[name as keyof Options](value);
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `options.${name} ${wrong}`);
    const fallback = defaultOptions[name as keyof Options];
    options[name] = typeof value === "object" && !Array.isArray(value) && typeof fallback === "object" ? { ...fallback, ...value } : value;
  }
  return Object.freeze(options) as unknown as Options;
};
