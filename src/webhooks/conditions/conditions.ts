import type { Condition, ConditionResult } from "../../../types/webhooks.js";
import { anyElement, jsonText } from "./json-value.js";
import { createSubject, operators, type Subject } from "./operators.js";

/** A condition made ready: its key split, its value prepared, its pattern compiled. */
export interface CompiledCondition extends Condition {
  path: readonly string[];
  /** Takes what the payload has at the key (see `subjectsAt`): it holds if it does for any of that. */
  test(subjects: readonly Subject[]): boolean;
}

/** @throws Error where a pattern does not compile */
export const compileCondition = (condition: Condition): CompiledCondition => {
  const { compile, whenAbsent } = operators[condition.condition];
  const test = compile(condition.value);
  return {
    ...condition,
    path: condition.key.split("."),
    test: (subjects) => (subjects.length === 0 ? whenAbsent : subjects.some(test)),
  };
};

/** Whether conditions hold together: one of them (`any`), or each (`all`). With no conditions, always. */
export const combine = (results: readonly boolean[], match: "any" | "all"): boolean =>
  results.length === 0 || (match === "all" ? results.every(Boolean) : results.some(Boolean));

/** Characters of a value's JSON that are shown, at the most: a dry run may find the same value by a hundred conditions. */
export const mostShown = 200;

const beginningOf = (json: string): string => (json.length <= mostShown ? json : `${json.slice(0, mostShown)}…`);

/** Why a condition holds for what a payload has at its key, or does not. */
export const explain = ({ key, path, condition, value }: CompiledCondition, subjects: readonly Subject[], holds: boolean): ConditionResult => {
  const { form, meaning } = operators[condition];
  const expected = form === "none" ? "" : ` (${beginningOf(jsonText(value))})`;
  const [first] = subjects;
  const actual = path.includes(anyElement) && first !== undefined ? createSubject(subjects.map((subject) => subject.value)) : first;
  const found = actual === undefined ? "the payload has nothing there" : `it is ${beginningOf(actual.json())}`;
  const isShown = actual !== undefined && actual.json().length <= mostShown;
  return {
    key,
    condition,
    ...(value === undefined ? {} : { value }),
    holds,
    ...(isShown ? { actual: actual.value } : {}),
    reason: `"${key}" ${holds ? "fulfils" : "does not fulfil"} "${meaning}"${expected}: ${found}`,
  };
};

/** Whether a name is one that a list of names and patterns means: `block.applied`, `transaction.*` (all that begin so), `*` (all). */
export const namesEvent = (names: readonly string[], event: string): boolean => names.some((name) => name === event || (isNamePattern(name) && event.startsWith(name.slice(0, -1))));

/** A `*` at the end, alone or after a point. */
export const isNamePattern = (name: string): boolean => name === "*" || name.endsWith(".*");
