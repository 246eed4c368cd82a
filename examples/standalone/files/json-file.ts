import { readFileSync } from "node:fs";
import { codeOf, HostError, messageOf } from "../program/host-error.js";

/** The content of a JSON file. @throws HostError that names the file */
export const readJson = (path: string): unknown => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new HostError(`${path} cannot be read: ${codeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error)}.`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new HostError(`${path} is not valid JSON: ${messageOf(error)}.`, { cause: error });
  }
};
