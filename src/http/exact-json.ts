import { parse } from "lossless-json";

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

/** Whether a text may contain numbers that JSON.parse would round: sixteen or more digits and points in a row, or an exponent. */
export const mayLoseDigits = (text: string): boolean => /\d[\d.]{14,}\d|\d[eE][+-]?\d/.test(text);

/** How deeply the arrays and objects of a JSON text are nested. */
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

/** Parses JSON with all whole numbers exact: bigints beyond 2^53. Throws SyntaxError, NumberError, or RangeError if nested too deeply. */
export const parseExactJson = (text: string): unknown =>
  parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
