import { writeFileSync } from "node:fs";
import { readmeFile, readReadme, withTables } from "./tables.js";

writeFileSync(readmeFile, withTables(readReadme()));
