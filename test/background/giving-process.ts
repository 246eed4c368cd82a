/** A process that gives a task which never ends, and waits for it: `node giving-process.ts PORT`. */
import { inBackgroundProcess } from "../../src/background-process.js";

await inBackgroundProcess("endless-process", import.meta.url, { port: Number(process.argv[2]) }, new AbortController().signal);
