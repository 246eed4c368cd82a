import { parse } from "lossless-json";

const longestNumber = 100;

/** A JSON number by its digits: whole numbers that a double cannot hold become bigints, all others numbers. */
export const exactNumber = (text: string): number | bigint => {
  const value = Number(text);
  if (Number.isSafeInteger(value)) {
    return value;
  }
  if (text.length > longestNumber) {
    throw new SyntaxError(`A number has more than ${longestNumber} characters.`);
  }
  return wholeNumber(text) ?? value;
};

/** The exact value of a JSON number that is whole, in whatever form it is written (`15e19`, `1.50e20`). */
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

/** Whether a text has numbers that JSON.parse might round: sixteen digits in a row, fraction point or exponent included. */
export const mayLoseDigits = (text: string): boolean => /\d[\d.]{14,}\d|\d[eE][+-]?\d/.test(text);

/** How deep arrays and objects of a JSON text are nested. */
export const nestingOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (token === "]" || token === "}") {
      depth -= 1;
    }
  }
  return deepest;
};

/** Parses JSON with every whole number exact: beyond 2^53 a bigint. Throws SyntaxError, or RangeError for too deep a nesting. */
export const parseExactJson = (text: string): unknown =>
  parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
