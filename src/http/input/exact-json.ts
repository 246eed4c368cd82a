import { randomUUID } from "node:crypto";
import { inputError, PorticoError } from "../../errors.js";
import { endOfDigits } from "../../text/digits.js";

const longestNumber = 100;

/** A number that JSON may have, and that is not taken. */
export class NumberError extends Error {}

/** The value of a JSON number: a bigint for a whole number that a double cannot hold exactly, otherwise a number. @throws NumberError */
export const exactNumber = (text: string): number | bigint => {
  const value = Number(text);
  if (Number.isSafeInteger(value)) {
    return value;
  }
  if (text.length > longestNumber) {
    throw new NumberError(`longer than ${longestNumber} characters`);
  }
  if (endOfDigits(text, text.startsWith("-") ? 1 : 0) === text.length) return BigInt(text);
  const whole = wholeNumber(text);
  if (whole === undefined && !Number.isFinite(value)) {
    throw new NumberError("beyond the range of a double");
  }
  return whole ?? value;
};

/** The exact value of a whole JSON number in any notation (`15e19`, `1.50e20`); undefined if it is not whole. */
const wholeNumber = (text: string): bigint | undefined => {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const zeros = Number(exponent) - fraction.length;
  const digits = whole + fraction;
  if (zeros > longestNumber || zeros < -digits.length) {
    return undefined;
  }
  if (zeros >= 0) {
    return BigInt(`${sign}${digits}${"0".repeat(zeros)}`);
  }
  return /^0*$/.test(digits.slice(zeros)) ? BigInt(`${sign}${digits.slice(0, zeros) || "0"}`) : undefined;
};

/** The place after the string that begins at `start`, or the end of a text in which it does not end. */
const endOfString = (text: string, start: number): number => {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
};

/** The place after the digits and points that begin at `start`. */
const endOfFigures = (text: string, start: number): number => {
  let end = endOfDigits(text, start);
  while (text[end] === ".") end = endOfDigits(text, end + 1);
  return end;
};

/** What has to be known of a JSON text before its value is used. */
interface JsonSurvey {
  /** How deeply its arrays and objects are nested. */
  depth: number;
  /** Its arrays, its objects, and their members with a name. */
  parts: number;
  /** Its commas: with them, texts and numbers in lists count too. */
  commas: number;
  /** How many numbers JSON.parse might round: sixteen or more digits and points in a row, or an exponent. */
  longNumbers: number;
}

/**
 * Takes time in proportion to the text, whatever that is. By a loop: an expression would make an object for each bracket of a megabyte of
 * them.
 */
export const surveyJson = (text: string): JsonSurvey => {
  const survey: JsonSurvey = { depth: 0, parts: 0, commas: 0, longNumbers: 0 };
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === "[" || character === "{") {
      survey.depth = Math.max(survey.depth, ++depth);
      survey.parts++;
    } else if (character === ":") survey.parts++;
    else if (character === ",") survey.commas++;
    else if (character === "]" || character === "}") depth--;
    else if (character >= "0" && character <= "9") {
      const end = endOfFigures(text, at);
      if (end - at >= 16 || text[end] === "e" || text[end] === "E") survey.longNumbers++;
      at = end - 1;
    }
  }
  return survey;
};

/** Begins texts that stand for numbers. No client can know it. */
const mark = `${randomUUID()} `;

/** A number in JSON, of which a long one is not looked at. */
const isNumber = (text: string): boolean => {
  if (text.length > longestNumber) return true;
  try {
    return typeof JSON.parse(text) === "number";
  } catch {
    return false;
  }
};

const partsOfNumbers = "0123456789.eE+-";

const endOfNumber = (text: string, start: number): number => {
  let end = endOfDigits(text, start);
  while (end < text.length && partsOfNumbers.includes(text.charAt(end))) end = endOfDigits(text, end + 1);
  return end;
};

/** The same text, with each number that JSON.parse might round in quotes, after a mark. */
const withMarkedNumbers = (text: string): string => {
  const parts: string[] = [];
  const token = /["\d]/g;
  let from = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const start = found.index;
    if (found[0] === '"') {
      token.lastIndex = endOfString(text, start);
      continue;
    }
    const end = (token.lastIndex = endOfNumber(text, start));
    const number = text.slice(text.charAt(start - 1) === "-" ? start - 1 : start, end);
    if (end - start < 16 && !/[eE]/.test(number)) continue;
    if (!isNumber(number)) continue;
    parts.push(text.slice(from, end - number.length), `"${mark}${number}"`);
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join("");
};

/** The value, in which each marked text has become its number. Arrays and objects are changed in place. */
const withNumbers = (value: unknown): unknown => {
  if (typeof value === "string") return value.startsWith(mark) ? exactNumber(value.slice(mark.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = withNumbers(value[i]);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const before = members[key];
    const after = withNumbers(before);
    if (after !== before) members[key] = after;
  }
  return value;
};

/**
 * Parses JSON with all whole numbers exact: bigints beyond 2^53. By JSON.parse, which takes a fraction of the time of any parser in
 * JavaScript: what it would round, it is given as texts. Throws SyntaxError, NumberError, or RangeError if nested too deeply.
 */
export const parseExactJson = (text: string): unknown => withNumbers(JSON.parse(withMarkedNumbers(text)));

/** Levels; deeper than any legitimate body. Serializing much deeper values could exhaust the stack. */
const deepestNesting = 100;

/** Numbers of a body that a double may not hold: more than any legitimate body of so many bytes has. */
const mostExact = (limit: number): number => Math.max(1_000, Math.floor(limit / 64));

/** Arrays, objects and members with a name, the dearest of all to make: in legitimate bodies each has thirty bytes and more. */
const mostParts = (limit: number): number => Math.max(1_000, Math.floor(limit / 16));

/** Values of all kinds: a list of the shortest addresses has thirty bytes for each. */
const mostValues = (limit: number): number => 2 * mostParts(limit);

/** Whether a value has a member `__proto__`, which whoever copies it might take for its prototype. */
const namesPrototype = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Object.hasOwn(value, "__proto__") || Object.values(value).some(namesPrototype));

/**
 * What a body has is looked at before it is parsed: that takes time, for which others wait. `limit`: bytes that it may have. `before`: how
 * the host has parsed it, if it has. @throws PorticoError, NumberError, SyntaxError
 */
export const parseBounded = (raw: string, limit: number, before?: unknown): unknown => {
  const { depth, parts, commas, longNumbers } = surveyJson(raw);
  if (depth > deepestNesting) {
    throw new PorticoError("MALFORMED_JSON", `The request body is nested deeper than ${deepestNesting} levels.`);
  }
  if (parts > mostParts(limit)) {
    const message = `The request body has more than ${mostParts(limit)} objects, lists and members.`;
    throw new PorticoError("BAD_REQUEST", message, { validation: { source: "payload", keys: ["value"] } });
  }
  if (commas > mostValues(limit)) {
    throw new PorticoError("BAD_REQUEST", `The request body has more than ${mostValues(limit)} values.`, {
      validation: { source: "payload", keys: ["value"] },
    });
  }
  if (longNumbers > mostExact(limit)) throw new NumberError(`one of more than ${mostExact(limit)} with many digits or an exponent`);
  const value = longNumbers > 0 ? parseExactJson(raw) : (before ?? (JSON.parse(raw) as unknown));
  if (typeof value !== "object" || value === null) throw inputError("payload", "value", "must be object");
  // It may be spelt with escapes.
  if (/__proto__|\\u/.test(raw) && namesPrototype(value)) throw inputError("payload", "__proto__", "is not allowed");
  return value;
};
