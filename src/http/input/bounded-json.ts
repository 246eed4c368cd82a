import { inputError, PorticoError } from "../../errors.js";
import { NumberError, parseExactJson, surveyJson } from "./exact-json.js";

/** Levels; deeper than any legitimate body. Serializing much deeper values could exhaust the stack. */
const deepestNesting = 100;

/** Numbers of a body that a double may not hold: more than any legitimate body of so many bytes has. */
const mostExact = (limit: number): number => Math.max(1_000, Math.floor(limit / 64));

/** Arrays, objects and members with a name, the dearest of all to make: in legitimate bodies each has thirty bytes and more. */
const mostParts = (limit: number): number => Math.max(1_000, Math.floor(limit / 16));

/** Whether a value has a member `__proto__`, which whoever copies it might take for its prototype. */
const namesPrototype = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Object.hasOwn(value, "__proto__") || Object.values(value).some(namesPrototype));

/**
 * What a body has is looked at before it is parsed: that takes time, for which others wait. `limit`: bytes that it may have. `before`: how the host
 * has parsed it, if it has. @throws PorticoError, NumberError, SyntaxError
 */
export const parseBounded = (raw: string, limit: number, before?: unknown): unknown => {
  const { depth, parts, longNumbers } = surveyJson(raw);
  if (depth > deepestNesting) {
    throw new PorticoError("MALFORMED_JSON", `The request body is nested deeper than ${deepestNesting} levels.`);
  }
  if (parts > mostParts(limit)) {
    throw new PorticoError("BAD_REQUEST", `The request body has more than ${mostParts(limit)} objects, lists and members.`, { validation: { source: "payload", keys: ["value"] } });
  }
  if (longNumbers > mostExact(limit)) throw new NumberError(`one of more than ${mostExact(limit)} with so many digits or an exponent`);
  const value = longNumbers > 0 ? parseExactJson(raw) : (before ?? (JSON.parse(raw) as unknown));
  if (typeof value !== "object" || value === null) throw inputError("payload", "value", "must be object");
  // It may be spelt with escapes.
  if (/__proto__|\\u/.test(raw) && namesPrototype(value)) throw inputError("payload", "__proto__", "is not allowed");
  return value;
};
