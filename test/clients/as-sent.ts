import { exactJson } from "../e2e/interface.js";

export type AmountForm = "number" | "string";

/** What a program reads from a body whose amounts are bigints here: numbers as its JSON parser rounds them, or decimal strings. */
export const asSent = (form: AmountForm, body: unknown): unknown =>
  JSON.parse(form === "number" ? exactJson(body) : JSON.stringify(body, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value)));
