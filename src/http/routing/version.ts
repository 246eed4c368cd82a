import type { IncomingHttpHeaders } from "node:http";
import { PorticoError } from "../../errors.js";
import { isDigits } from "../../text/digits.js";

export type Generation = 1 | 2;

/** The version that a request names: 0 for none, -1 for a whole number that is not a generation. */
type NamedVersion = Generation | 0 | -1;

const named = (version: number): NamedVersion => (version === 1 || version === 2 ? version : -1);

const vendorType = /application\/vnd\.core-api\.v(\d+)\+json/i;
const oldVendorType = /application\/vnd\.ark\.core-api\.v(\d+)\+json/i;

/** `application/vnd.core-api+json; version=2`. Parameter by parameter: one expression for all of it would take quadratic time. */
const versionInParameters = (accept: string): string | undefined => {
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";");
    if (!/application\/vnd\.core-api\+json$/i.test(type.trim())) continue;
    const version = parameters.map((parameter) => /^version="?(\d+)\b/i.exec(parameter.trim())?.[1]).findLast((text) => text !== undefined);
    if (version !== undefined) return version;
  }
  return undefined;
};

const versionInAccept = (accept: string): NamedVersion => {
  const version = vendorType.exec(accept)?.[1] ?? versionInParameters(accept) ?? oldVendorType.exec(accept)?.[1];
  return version === undefined ? 0 : named(Number(version));
};

/** The version in `API-Version` if that is a whole number, otherwise that of a vendor type in `Accept`. */
export const versionInHeaders = (headers: IncomingHttpHeaders): NamedVersion => {
  const header = headers["api-version"];
  if (typeof header === "string" && isDigits(header)) {
    return named(Number(header));
  }
  return headers.accept !== undefined && /vnd\./i.test(headers.accept) ? versionInAccept(headers.accept) : 0;
};

/** The generation of a named version; undefined for none. Throws UNSUPPORTED_VERSION. */
export const generationNamed = (version: NamedVersion): Generation | undefined => {
  if (version === -1) {
    throw new PorticoError("UNSUPPORTED_VERSION");
  }
  return version === 0 ? undefined : version;
};

/** Splits the version off the front of a path below the base path. */
export const versionInPath = (path: string): { version: NamedVersion; path: string } => {
  const match = /^\/v(\d+)(?=\/|$)/.exec(path);
  return match === null ? { version: 0, path } : { version: named(Number(match[1])), path: path.slice(match[0].length) };
};

/** How a reply writes amounts: as JSON numbers with all their digits, or as decimal strings. */
export type AmountForm = "number" | "string";

/** The form that a request's headers name: undefined for none, "unknown" for a value that is none. */
type NamedForm = AmountForm | "unknown" | undefined;

/** What a path below the base path may begin with, to choose the form of its reply and of all that the reply's links lead to. */
export type AmountPrefix = "" | "/numbers" | "/strings";

const forms: Record<Exclude<AmountPrefix, "">, AmountForm> = { "/numbers": "number", "/strings": "string" };

/** The form that a prefix stands for; undefined for none. */
export const formOf = (prefix: AmountPrefix): AmountForm | undefined => (prefix === "" ? undefined : forms[prefix]);

export const formInHeaders = (headers: IncomingHttpHeaders): NamedForm => {
  const header = headers["api-amounts"];
  return header === undefined || header === "number" || header === "string" ? header : "unknown";
};

/** Splits the form off the front of a path below the base path. */
export const formInPath = (path: string): { prefix: AmountPrefix; path: string } => {
  const match = /^\/(?:numbers|strings)(?=\/|$)/.exec(path);
  return match === null ? { prefix: "", path } : { prefix: match[0] as AmountPrefix, path: path.slice(match[0].length) };
};
