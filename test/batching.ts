/** Loaded by mocha before the tests. `PORTICO_BATCHES=off npm test` shows that batching changes nothing but the speed. */
import { batching } from "../src/http/fast/micro-batch.js";

if (process.env.PORTICO_BATCHES === "off") batching.isOn = false;
