/** Loaded by mocha before the tests. `PORTICO_BATCHES=off npm test` shows that batching changes nothing but the speed. */
import { pathToFileURL } from "node:url";
import { priority, sources } from "../src/async/background-process.js";
import { background } from "../src/async/time-slicing.js";
import { batching } from "../src/http/fast/micro-batch.js";
import { programOf } from "./fixtures/programs.js";

if (process.env.PORTICO_BATCHES === "off") batching.isOn = false;
sources.run = (file) => ({ file: programOf(pathToFileURL(file)), execArgv: [] });
priority.isLowest = false;
background.sleeps = process.env.PORTICO_SLEEPS === "on";
