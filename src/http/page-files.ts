import { readFileSync } from "node:fs";
import { PorticoError } from "../errors.js";
import type { FileAnswer } from "./route.js";

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/**
 * The files of a page, by name, with their paths or contents. Each is read when it is first asked for; from then on, the same answer is given.
 * @throws PorticoError NOT_FOUND for any other name
 */
export const createPageFiles = (
  paths: ReadonlyMap<string, () => string | URL | Uint8Array>,
  headers: readonly string[],
): ((name: string) => FileAnswer) => {
  const read = new Map<string, FileAnswer>();
  return (name) => {
    const ready = read.get(name);
    if (ready !== undefined) return ready;
    const path = paths.get(name)?.();
    if (path === undefined) throw new PorticoError("NOT_FOUND");
    const contentType = types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    const answer: FileAnswer = { file: path instanceof Uint8Array ? Buffer.from(path) : readFileSync(path), contentType, headers };
    read.set(name, answer);
    return answer;
  };
};
