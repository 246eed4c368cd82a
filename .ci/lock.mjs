/**
 * Carries `allowScripts` of package.json into package-lock.json. npm before 11.16 does not know that member: it would compile these
 * packages, and fail where there is no compiler. Run by npm after each change of node_modules (`dependencies`), since npm
 * writes the lock file without these marks.
 */
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const { allowScripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const before = readFileSync(file, "utf8");
const lock = JSON.parse(before);

for (const [name, allowed] of Object.entries(allowScripts)) {
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (allowed || !`/${path}`.endsWith(`/node_modules/${name}`)) continue;
    delete entry.hasInstallScript;
    entry.gypfile = false;
  }
}

const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after !== before) writeFileSync(file, after);
