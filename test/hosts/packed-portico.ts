import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./example-process.js";

let folder: string | undefined;

/** A folder with the library as published, built from the current sources, and the CommonJS example beside it. Built once. */
export const packedPortico = (): string => {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), "portico-packed-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  const at = (path: string): string => fileURLToPath(new URL(path, root));
  execFileSync(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at("tsconfig.build.json"), "--outDir", join(made, "dist")]);
  cpSync(at("package.json"), join(made, "package.json"));
  cpSync(at("examples/commonjs-host"), join(made, "examples/commonjs-host"), { recursive: true });
  symlinkSync(at("node_modules"), join(made, "node_modules"));
  folder = made;
  return made;
};
