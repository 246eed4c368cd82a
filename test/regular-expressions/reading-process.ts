import { Hex } from "../../src/api/fields.js";
import { parseJson } from "../../src/client/values.js";
import { parseAmount } from "../../src/chain/amount.js";
import { surveyJson } from "../../src/http/input/exact-json.js";
import { inputKeyword, type InputKind, orderKind } from "../../src/http/input/schema.js";
import { transactionCodec } from "../../src/store/layout/codec.js";
import { valuesAt } from "../../src/webhooks/conditions/json-value.js";
import { createSubject } from "../../src/webhooks/conditions/conditions.js";
import type { Transaction } from "../../types/chain.js";
import type { Expression } from "./find.js";
import { longest, reviewed } from "./reviewed.js";

/**
 * Reads long texts, and prints what it has read: by the expressions that it is given as JSON, and by what reads texts of any length. A process
 * of its own, started with `--no-regexp-optimization`: so V8 compiles expressions once a process has much code.
 */

const attempt = (name: string, read: () => unknown): void => {
  try {
    read();
    console.log(`read: ${name}`);
  } catch (error) {
    console.log(`FAILED: ${name}: ${String(error).slice(0, 200)}`);
  }
};

const found = JSON.parse(process.argv[2] ?? "") as Expression[];
for (const { file, source, origin, hard = [] } of reviewed) {
  const length = longest[origin];
  if (length === undefined) continue;
  const expression = new RegExp(source, found.find((one) => one.file === file && one.source === source)?.flags);
  for (const [start, part, end] of hard) {
    const text = start + part.repeat(length / part.length) + end;
    attempt(`${file} ${source} ${JSON.stringify([start, part, end])}`, () => (expression.global ? text.replace(expression, "") : expression.exec(text)));
  }
}

/** Texts of any length. */
const digits = "0".repeat(8_000_000);
const hex = (Hex as unknown as Record<typeof inputKeyword, InputKind<string>>)[inputKeyword];
const digest = "ab".repeat(32);

attempt("decimals", () => createSubject(`-${digits}1.${digits}1`).decimal());
attempt("no decimals", () => createSubject(`${digits}.${digits}x`).decimal());
attempt("keys", () => valuesAt([1], digits, [digits]));
attempt("amounts", () => {
  try {
    return parseAmount(`-${digits}x`);
  } catch (error) {
    if ((error as Error).message.endsWith("is not a whole number")) return undefined;
    throw error;
  }
});
attempt("numbers in bodies", () => surveyJson(`[${digits}.${digits}e1, "${digits}"]`));
attempt("texts in bodies", () => surveyJson(`"${"\\".repeat(digits.length)}"`));
attempt("orders", () => orderKind(["height"]).parse(`${digits}:${digits}`, { epoch: "" }));
attempt("hexadecimal filters", () => hex.parse(digits, { epoch: "" }));
attempt("replies of a node", () => {
  for (const json of [`["${"\\n".repeat(4_000_000)}", 1234567890123456789]`, `[1${digits}.5, 1${digits.slice(0, 1_000)}]`]) parseJson(json);
});
attempt("signatures", () => transactionCodec.pack({ id: digest, blockId: digest, senderPublicKey: `02${digest}`, signature: digits } as Transaction));
