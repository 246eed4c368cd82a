/** Loaded by mocha before the tests. `PORTICO_BATCHES=off npm test` shows that batching changes nothing but the speed. */
import { background } from "../src/async/time-slicing.js";
import { batching } from "../src/http/fast/micro-batch.js";

if (process.env.PORTICO_BATCHES === "off") batching.isOn = false;
background.sleeps = process.env.PORTICO_SLEEPS === "on";
