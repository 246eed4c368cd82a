/** Loaded by mocha before the tests. */
import { pathToFileURL } from "node:url";
import { priority, sources } from "../src/async/background-process.js";
import { background } from "../src/async/time-slicing.js";
import { programOf } from "./fixtures/programs.js";

sources.run = (file) => ({ file: programOf(pathToFileURL(file)), execArgv: [] });
priority.isLowest = false;
background.sleeps = process.env.PORTICO_SLEEPS === "on";
