import { isNetwork } from "../net/addresses.js";
import type { Logger } from "../../types/node-context.js";

/** Says what is wrong with a value; undefined if nothing is. */
export type Check = (value: unknown) => string | undefined;

/** One option. */
export interface OptionRow<T> {
  default: T;
  check: Check;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const wholeFrom =
  (minimum: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= minimum ? undefined : `must be a whole number from ${minimum}`;

/** Longest delay of a Node.js timer, in milliseconds; a longer one fires at once. */
const longestWait = 2_147_483_647;

/** A delay in milliseconds that a timer can take. */
export const waitFrom =
  (minimum: number): Check =>
  (value) =>
    wholeFrom(minimum)(value) === undefined && (value as number) <= longestWait
      ? undefined
      : `must be a whole number from ${minimum} to ${longestWait}`;

export const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map((one) => JSON.stringify(one)).join(", ")}`;

/** The gaps of a sparse array are members, too. */
const isListOf = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && [...(value as unknown[])].every(fits);

export const text: Check = (value) => (typeof value === "string" && value !== "" ? undefined : "must be a non-empty string");

export const texts: Check = (value) => (isListOf(value, (item) => typeof item === "string") ? undefined : "must be a list of strings");

export const networks: Check = (value) => {
  const fault = texts(value);
  if (fault !== undefined) return fault;
  const wrong = (value as string[]).find((item) => !isNetwork(item));
  return wrong === undefined ? undefined : `must be a list of addresses and networks (CIDR), not "${wrong}"`;
};

/** Characters that a token has at least. */
export const shortestToken = 8;

/** What is wrong is said without showing it. */
export const tokens: Check = (value) =>
  isListOf(value, (item) => typeof item === "string" && item.length >= shortestToken && item.trim() === item)
    ? undefined
    : `must be a list of strings of at least ${shortestToken} characters, with no space at either end`;

/** As browsers send it: in lower case, without a slash at the end or a port that is the scheme's own. */
const isOrigin = (text: string): boolean => {
  if (/^https?:/.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  return text === "null" || /^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+$/.test(text);
};

export const origins: Check = (value) => {
  if (value === "*") return undefined;
  if (texts(value) !== undefined) return 'must be "*" or a list of origins';
  const wrong = (value as string[]).find((item) => !isOrigin(item));
  return wrong === undefined ? undefined : `must be "*" or a list of origins such as "https://explorer.example", not "${wrong}"`;
};

export const wholes: Check = (value) =>
  isListOf(value, (item) => Number.isSafeInteger(item) && (item as number) >= 0) ? undefined : "must be a list of whole numbers";

export const part: Check = (value) => (typeof value === "number" && value >= 0 && value <= 1 ? undefined : "must be a number from 0 to 1");

export const above =
  (minimum: number): Check =>
  (value) =>
    typeof value === "number" && value > minimum ? undefined : `must be a number above ${minimum}`;

export const falseOr =
  (check: Check): Check =>
  (value) => {
    const wrong = value === false ? undefined : check(value);
    return wrong?.replace("must be", "must be false or");
  };

export const yesOrNo: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");

export const offOr =
  (members: Record<string, Check>): Check =>
  (value) => {
    if (value === false) return undefined;
    if (!isObject(value)) return "must be false or an object";
    for (const [name, member] of Object.entries(value)) {
      const check = Object.hasOwn(members, name) ? members[name] : undefined;
      if (check === undefined) return `has no member "${name}"; its members are ${Object.keys(members).join(", ")}`;
      const wrong = member === undefined ? undefined : check(member);
      if (wrong !== undefined) return `${name} ${wrong}`;
    }
    return undefined;
  };

export const path: Check = (value) =>
  typeof value === "string" && /^(?:\/[\w.~-]+)*$/.test(value) ? undefined : 'must be a path such as "/api", without a slash at its end';

/** Switched on, off, or on for those who have a token. */
export const metricsSetting: Check = (value) => {
  if (typeof value === "boolean") return undefined;
  if (!isObject(value)) return "must be true, false or an object";
  if (Object.keys(value).join() !== "token" || tokens([value["token"]]) !== undefined)
    return `must have one member, token: a string of at least ${shortestToken} characters, with no space at either end`;
  return undefined;
};

/** Wraps a host's logger so that nothing it throws gets out: a lost log line must not stop a block, a delivery, a reply or the host. */
export const quietLogger = (logger: Logger): Logger => {
  const to =
    (level: keyof Logger) =>
    (message: string): void => {
      try {
        logger[level](message);
      } catch {
        // There is nowhere left to report it.
      }
    };
  return { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
};

const silence = (): void => undefined;

/** What is logged where the host gives no logger. */
export const consoleLogger: Logger = {
  debug: silence,
  info: (message) => console.info(message),
  warn: (message) => console.warn(message),
  error: (message) => console.error(message),
};
