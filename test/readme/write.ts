import { writeFileSync } from "node:fs";
import { growthPlot, plotFile } from "../bench/table/plot.js";
import { readResults } from "../bench/table/results.js";
import { readmeFile, readReadme, withTables } from "./tables.js";

writeFileSync(plotFile, growthPlot(readResults().curves));
writeFileSync(readmeFile, withTables(readReadme()));
