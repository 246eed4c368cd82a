import { readFileSync } from "node:fs";
import { parseExactJson, surveyJson } from "../../../src/http/input/exact-json.js";
import { cannotRead, HostError, messageOf } from "../program/host-error.js";

/** The content of a JSON file; whole numbers beyond 2^53 are bigints. `isSecret`: no error shows any of it. @throws HostError that names the file */
export const readJson = (path: string, { isSecret = false } = {}): unknown => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw cannotRead(path, error);
  }
  try {
    const value = JSON.parse(text) as unknown;
    return surveyJson(text).longNumbers === 0 ? value : parseExactJson(text);
  } catch (error) {
    // Node.js shows the text around the fault.
    const [fault] = isSecret ? messageOf(error).split(/, (?:\.{3})?"/) : [messageOf(error)];
    throw new HostError(`${path} is not valid JSON: ${fault ?? ""}.`, isSecret ? {} : { cause: error });
  }
};
