import { type Decimal, numberText, toDecimal } from "./decimal.js";
import { canonical, jsonText, valuesAt } from "./json-value.js";

/** A value that many conditions test: what they derive from it is computed once. */
export interface Subject {
  readonly value: unknown;
  /** By its digits, where it is a number or a decimal string. */
  decimal(): Decimal | undefined;
  /** The same text for all values that count as equal. */
  canonical(): string;
  /** Its elements by their canonical texts, where it is an array. */
  elements(): ReadonlySet<string> | undefined;
  /** As JSON. */
  json(): string;
  /** Numbers and booleans as they are written; undefined for anything but a scalar. */
  text(): string | undefined;
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return numberText(value);
  return typeof value === "boolean" ? String(value) : undefined;
};

const once = <T>(make: () => T): (() => T) => {
  let made: { it: T } | undefined;
  return () => (made ??= { it: make() }).it;
};

export const createSubject = (value: unknown): Subject => ({
  value,
  decimal: once(() => toDecimal(value)),
  canonical: once(() => canonical(value)),
  elements: once(() => (Array.isArray(value) ? new Set(value.map(canonical)) : undefined)),
  json: once(() => jsonText(value)),
  text: once(() => textOf(value)),
});

/** What a payload has at a key (see `valuesAt`). */
export const subjectsAt = (payload: unknown, { key, path }: { key: string; path: readonly string[] }): Subject[] => valuesAt(payload, key, path).map(createSubject);
