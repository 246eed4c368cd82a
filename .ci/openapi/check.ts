/**
 * Checks the OpenAPI document of a node with webhooks, as it serves it: Spectral's and Redocly's rules have nothing to say, and the
 * clients that two generators make of it compile strictly. These tools are large, so they are installed here when they are needed,
 * into a folder of their own that stays for the next time.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createApiPlugin } from "../../src/index.js";
import { loadChain } from "../../test/data/read.js";
import { silentLogger } from "../../test/silent.js";

const tools = fileURLToPath(new URL("../../.openapi-tools/", import.meta.url));
const packages = readFileSync(new URL("tools.json", import.meta.url), "utf8");

const install = (): void => {
  const manifest = join(tools, "package.json");
  if (existsSync(join(tools, "node_modules")) && existsSync(manifest) && readFileSync(manifest, "utf8") === packages) return;
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools);
  writeFileSync(manifest, packages);
  execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: tools, stdio: "inherit" });
};

/** The document for clients that take amounts in any form, and for those that take text. */
const documents = async (folder: string): Promise<string[]> => {
  const plugin = createApiPlugin({ network: loadChain("core3-custom-c").network, events: new EventEmitter(), dataDir: join(folder, "data"), logger: silentLogger });
  const server = await plugin.listen(0);
  try {
    const { port } = server.address() as AddressInfo;
    const files: string[] = [];
    for (const prefix of ["", "/strings"]) {
      const file = join(folder, `openapi${prefix.replace("/", "-")}.json`);
      writeFileSync(file, await (await fetch(`http://127.0.0.1:${port}/api${prefix}/openapi.json`)).text());
      files.push(file);
    }
    return files;
  } finally {
    await plugin.stop();
  }
};

const run = (tool: string, ...args: string[]): void => {
  execFileSync(join(tools, "node_modules/.bin", tool), args, { cwd: tools, stdio: "inherit" });
};

/** Redocly ends well with warnings, too. */
const lintByRedocly = (document: string): void => {
  const args = ["lint", document, "--format", "json", "--config", fileURLToPath(new URL("redocly.yaml", import.meta.url))];
  const { status, stdout } = spawnSync(join(tools, "node_modules/.bin/redocly"), args, { cwd: tools, encoding: "utf8", maxBuffer: 100_000_000, env: { ...process.env, REDOCLY_TELEMETRY: "off" } });
  const { totals, problems } = JSON.parse(stdout) as { totals: { errors: number; warnings: number }; problems: { message: string; location: { pointer: string }[] }[] };
  if (status !== 0 || totals.errors + totals.warnings > 0) throw new Error(`Redocly: ${JSON.stringify(totals)} ${JSON.stringify(problems.map(({ message, location }) => [message, location[0]?.pointer]), undefined, 1).slice(0, 5000)}`);
};

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
};

const compile = (folder: string): void => {
  const project = join(folder, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["types.ts", "client"] }));
  run("tsc", "--project", project);
};

const check = (document: string, folder: string): void => {
  run("spectral", "lint", document, "--ruleset", fileURLToPath(new URL("spectral.yaml", import.meta.url)), "--fail-severity", "hint");
  lintByRedocly(document);
  run("openapi-typescript", document, "--output", join(folder, "types.ts"));
  run("openapi-ts", "--input", document, "--output", join(folder, "client"), "--client", "@hey-api/client-fetch");
  compile(folder);
};

install();
const folder = mkdtempSync(join(tmpdir(), "portico-openapi-"));
try {
  for (const document of await documents(folder)) check(document, mkdtempSync(join(folder, "made-")));
} finally {
  rmSync(folder, { recursive: true });
}
