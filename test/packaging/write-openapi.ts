import { writeFileSync } from "node:fs";
import { baseline, baselineText, servedDocument } from "./openapi.js";

/** Run by `npm run docs:openapi`, before a release, and where a change is meant to take something from clients. */
writeFileSync(baseline, baselineText(await servedDocument()));
process.exit();
