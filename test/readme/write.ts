import { writeFileSync } from "node:fs";
import { namesFile, namesText } from "../routes/generate-names.js";
import { growthPlot, plotFile } from "../bench/table/plot.js";
import { readResults } from "../bench/table/results.js";
import { documents, fileOf, readDocument, withTables } from "./tables.js";

writeFileSync(namesFile, namesText());
writeFileSync(plotFile, growthPlot(readResults().curves));
for (const document of Object.keys(documents)) writeFileSync(fileOf(document), withTables(readDocument(document)));
