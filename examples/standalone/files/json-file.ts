import { readFileSync } from "node:fs";
import { cannotRead, HostError, messageOf } from "../program/host-error.js";

/** The content of a JSON file. `isSecret`: no error shows any of it. @throws HostError that names the file */
export const readJson = (path: string, { isSecret = false } = {}): unknown => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw cannotRead(path, error);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Node.js shows the text around the fault.
    const [fault] = isSecret ? messageOf(error).split(/, (?:\.{3})?"/) : [messageOf(error)];
    throw new HostError(`${path} is not valid JSON: ${fault ?? ""}.`, isSecret ? {} : { cause: error });
  }
};
