import type { Condition, ConditionResult } from "../../types/webhooks.js";
import { absent, jsonText, valueAt } from "./json-value.js";
import { operators, type Test } from "./operators.js";
import { createSubject } from "./subject.js";

/** A condition made ready: its key split, its value prepared, its pattern compiled. */
export interface CompiledCondition extends Condition {
  path: readonly string[];
  /** Takes what the payload has at the key: `absent` where it has nothing. */
  test: Test;
}

/** @throws Error where a pattern does not compile */
export const compileCondition = (condition: Condition): CompiledCondition => {
  const operator = operators[condition.condition];
  const test = operator.compile(condition.value);
  return {
    ...condition,
    path: condition.key.split("."),
    test: (actual) => (actual.value === absent ? operator.whenAbsent : test(actual)),
  };
};

/** Whether conditions hold together: one of them (`any`), or each (`all`). With no conditions, always. */
export const combine = (results: readonly boolean[], match: "any" | "all"): boolean =>
  results.length === 0 || (match === "all" ? results.every(Boolean) : results.some(Boolean));

/** Whether one condition holds for a payload, and why. */
export const explain = (condition: Condition, payload: unknown): ConditionResult => {
  const compiled = compileCondition(condition);
  const actual = valueAt(payload, compiled.key, compiled.path);
  const holds = compiled.test(createSubject(actual));
  const expected = operators[condition.condition].form === "none" ? "" : ` (${jsonText(condition.value)})`;
  const found = actual === absent ? "the payload has nothing there" : `it is ${jsonText(actual)}`;
  const reason = `"${condition.key}" ${holds ? "fulfils" : "does not fulfil"} "${operators[condition.condition].meaning}"${expected}: ${found}`;
  return { ...condition, holds, ...(actual === absent ? {} : { actual }), reason };
};
