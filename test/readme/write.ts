import { writeFileSync } from "node:fs";
import { clientFile, clientFiles } from "../client/generate.js";
import { namesFile, namesText } from "../routes/generate-names.js";
import { documents, fileOf, readDocument, withTables } from "./tables.js";

writeFileSync(namesFile, namesText());
for (const [name, text] of Object.entries(clientFiles())) writeFileSync(clientFile(name), text);
for (const document of Object.keys(documents)) writeFileSync(fileOf(document), withTables(readDocument(document)));
