import { writeFileSync } from "node:fs";
import { namesFile, namesText } from "../routes/generate-names.js";
import { documents, fileOf, readDocument, withTables } from "./tables.js";

writeFileSync(namesFile, namesText());
for (const document of Object.keys(documents)) writeFileSync(fileOf(document), withTables(readDocument(document)));
