import { readFileSync } from "node:fs";
import type { OperationExample } from "../http/route.js";

/** An example of each operation, from a real chain; `npm run docs:examples` writes the file. */
export const readExamples = (): Readonly<Record<string, OperationExample>> =>
  JSON.parse(readFileSync(new URL("./examples.json", import.meta.url), "utf8")) as Record<string, OperationExample>;
