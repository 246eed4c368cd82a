// @ts-check
/**
 * The thread that tries patterns on long texts. JavaScript, as a thread starts without the loader by which a host may run TypeScript.
 */
import { parentPort } from "node:worker_threads";
import { RE2JS } from "re2js";

/** Patterns that stay compiled, at the most. */
const mostKept = 200;

/** @type {Map<string, RE2JS>} */
const compiled = new Map();

/** @param {string} source */
const compile = (source) => {
  const pattern = compiled.get(source) ?? RE2JS.compile(RE2JS.translateRegExp(source));
  compiled.delete(source);
  compiled.set(source, pattern);
  const [oldest] = compiled.keys();
  if (compiled.size > mostKept && oldest !== undefined) compiled.delete(oldest);
  return pattern;
};

/** @param {import("./pattern.js").PatternJob} job */
const answer = ({ number, source, text }) => {
  try {
    parentPort?.postMessage({ number, holds: compile(source).test(text) });
  } catch {
    // As where it is tried at once: a pattern that does not compile holds for nothing.
    parentPort?.postMessage({ number, holds: false });
  }
};

parentPort?.on("message", answer);
