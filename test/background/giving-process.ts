/** A process that gives a task which never ends, and waits for it: `node giving-process.ts PORT`. */
import { inBackgroundProcess, priority } from "../../src/async/background-process.js";

// The test waits for it.
priority.isLowest = false;
await inBackgroundProcess("endless-process", import.meta.url, { port: Number(process.argv[2]) }, new AbortController().signal);
