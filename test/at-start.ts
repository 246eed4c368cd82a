/** Loaded by mocha before the tests. */
import { syncBuiltinESMExports } from "node:module";
import { pathToFileURL } from "node:url";
import workerThreads, { type WorkerOptions } from "node:worker_threads";
import { priority, sources } from "../src/async/background-process.js";
import { background } from "../src/async/time-slicing.js";
import { programOf, threadOf } from "./fixtures/programs.js";

sources.run = (file) => ({ file: programOf(pathToFileURL(file)), execArgv: [] });
priority.isLowest = false;
background.sleeps = process.env.PORTICO_SLEEPS === "on";

const { Worker } = workerThreads;
workerThreads.Worker = class extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(threadOf(file), options);
  }
};
syncBuiltinESMExports();
