/** Values on the wire: numbers with all their digits, amounts, queries. */

/** What no reply has: it is made anew for each process. */
const mark = `${Math.random().toString(36).slice(2)}:`;

const wholeText = /^-?\d+$/;

/** Where a text in JSON ends that begins at a quote. */
const endOfText = (json: string, start: number): number => {
  let end = start + 1;
  while (end < json.length && json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
  return end + 1;
};

const inNumbers = new Set("0123456789+-.eE");

/** JSON in which whole numbers of sixteen characters and more are texts with a mark. Without expressions: V8 reads no text of any length by them. */
const withMarks = (json: string): string => {
  let [made, copied] = ["", 0];
  for (let at = 0; at < json.length; ) {
    const [first = "", start] = [json[at], at];
    if (first === '"') at = endOfText(json, at);
    else if (!inNumbers.has(first)) at++;
    else {
      let isWhole = true;
      for (; inNumbers.has(json[at] ?? ""); at++) if (at > start && !/\d/.test(json[at] ?? "")) isWhole = false;
      // Letters of true and false are read here, too: none has sixteen.
      if (!isWhole || at - start < 16) continue;
      made += `${json.slice(copied, start)}"${mark}${json.slice(start, at)}"`;
      copied = at;
    }
  }
  return made + json.slice(copied);
};

const unmarked = (_name: string, value: unknown): unknown =>
  typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;

/** Reads JSON. Whole numbers that a double might round become bigints. @throws SyntaxError */
export const parseJson = (text: string): unknown => {
  if (!/[:,[\s]-?\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(withMarks(text), unmarked);
};

/** Writes JSON: bigints as text, as the interface takes all amounts. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? String(part) : part));

const amountOf = (value: unknown): unknown => {
  if (value === "") return null;
  if (typeof value === "string") return wholeText.test(value) ? BigInt(value) : value;
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
};

const convert = (holder: unknown, [step = "", ...rest]: readonly string[]): void => {
  if (typeof holder !== "object" || holder === null) return;
  const parts = holder as Record<string, unknown>;
  for (const name of step === "*" ? Object.keys(parts) : [step]) {
    if (!Object.hasOwn(parts, name)) continue;
    if (rest.length > 0) convert(parts[name], rest);
    else parts[name] = amountOf(parts[name]);
  }
};

/** Makes bigints of the amounts in a value, at these paths: members by name, `*` for each of a list or map. Changes the value. */
export const withAmounts = <Value>(value: Value, paths: string | undefined): Value => {
  for (const path of paths?.split(" ") ?? []) convert(value, path.split("."));
  return value;
};

const pairsOf = (input: object, within: string): [name: string, value: string][] =>
  Object.entries(input).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    const name = within + key;
    if (value === undefined) return [];
    if (value instanceof Date) return [[name, value.toISOString()]];
    if (Array.isArray(value)) return [[name, value.some((item) => typeof item === "object") ? jsonOf(value) : value.join(",")]];
    return typeof value === "object" && value !== null ? pairsOf(value, `${name}.`) : [[name, `${value as string | number | bigint}`]];
  });

/** A query with its `?`: members of members have dotted names, lists have commas. Empty where there is nothing. */
export const queryOf = (input: object): string => {
  const query = pairsOf(input, "").map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return query.length === 0 ? "" : `?${query.join("&")}`;
};

const decimals = 8;

/** An amount as text with a point and the token's eight decimals: `123456789n` is `"1.23456789"`. */
export const toToken = (amount: bigint): string => {
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};

/** The amount of a text such as `1.5`: `150000000n`. @throws RangeError for anything but a number with at most eight decimals */
export const fromToken = (text: string): bigint => {
  const [, sign = "", whole = "", part = ""] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(text) ?? [];
  if (whole === "") throw new RangeError(`"${text}" is not an amount of the token, a number with at most ${decimals} decimals.`);
  const amount = BigInt(whole + part.padEnd(decimals, "0"));
  return sign === "-" ? -amount : amount;
};
