import type { IncomingHttpHeaders } from "node:http";

/** How a reply writes amounts: as JSON numbers with all their digits, or as decimal strings. */
export type AmountForm = "number" | "string";

/** The form that a request's headers name: undefined for none, "unknown" for a value that is none. */
export type NamedForm = AmountForm | "unknown" | undefined;

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
