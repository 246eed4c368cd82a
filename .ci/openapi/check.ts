/**
 * Checks the OpenAPI document of a node with webhooks, as it serves it: Spectral's and Redocly's rules have nothing to say, the TypeScript
 * clients of two generators compile strictly and work, and the Python classes of a third read every reply exactly. These tools are large, so
 * they are installed here when they are needed, into a folder of their own that stays for the next time.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
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

interface Described {
  /** The OpenAPI document, as a file. */
  document: string;
  /** What its paths are below. */
  api: string;
  amounts: "number" | "string";
}

/** The document for clients that take amounts in any form, and for those that take text. */
const documents = async (origin: string, folder: string): Promise<Described[]> => {
  const described: Described[] = [];
  for (const [amounts, api] of [["number", `${origin}/api`], ["string", `${origin}/api/strings`]] as const) {
    const document = join(folder, `openapi-${amounts}.json`);
    writeFileSync(document, await (await fetch(`${api}/openapi.json`)).text());
    described.push({ document, api, amounts });
  }
  return described;
};

const run = (tool: string, ...args: string[]): void => {
  execFileSync(join(tools, "node_modules/.bin", tool), args, { cwd: tools, stdio: "inherit" });
};

/** "unconfirmed" is no id of a transaction: the two paths never mean the same request. */
const isKnown = (message: string): boolean => /^Paths should resolve unambiguously\. .*\/transactions\/unconfirmed\/\{id\}` and .*\/transactions\/\{id\}\/proof`\.$/.test(message);

/** Redocly ends well with warnings, too. */
const lintByRedocly = (document: string): void => {
  const args = ["lint", document, "--format", "json", "--config", fileURLToPath(new URL("redocly.yaml", import.meta.url))];
  const { status, stdout } = spawnSync(join(tools, "node_modules/.bin/redocly"), args, { cwd: tools, encoding: "utf8", maxBuffer: 100_000_000, env: { ...process.env, REDOCLY_TELEMETRY: "off" } });
  const { totals, problems } = JSON.parse(stdout) as { totals: { errors: number; warnings: number }; problems: { message: string; location: { pointer: string }[] }[] };
  const wrong = problems.map(({ message, location }) => [message, location[0]?.pointer]).filter(([message = ""]) => !isKnown(message));
  if (status !== 0 || totals.errors > 0 || wrong.length > 0) throw new Error(`Redocly: ${JSON.stringify(totals)} ${JSON.stringify(wrong, undefined, 1).slice(0, 5000)}`);
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
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["types.ts", "client", "program.ts"] }));
  run("tsc", "--project", project);
};

/** What users of the clients write: openapi-fetch with the types of openapi-typescript, and the calls of hey-api. */
const programOf = ({ api, amounts }: Described): string => `
import createFetchClient from "openapi-fetch";
import type { paths } from "./types.js";
import { getBlock, getWallets, searchTransactions } from "./client/index.js";
import { client } from "./client/client.gen.js";

type Block = paths["/blocks/{id}"]["get"]["responses"]["200"]["content"]["application/json"];
client.setConfig({ baseUrl: "${api}" });

const fetched = createFetchClient<paths>({ baseUrl: "${api}" });
const top = (await fetched.GET("/wallets", { params: { query: { limit: 1, orderBy: "balance:desc" } } })).data?.data[0];
if (typeof top?.balance !== "${amounts}") throw new Error("GET /wallets: " + JSON.stringify(top));
const none = (await fetched.GET("/blocks/{id}", { params: { path: { id: "99999999" } } })).error;
if (none === undefined || !("code" in none) || none.code !== "BLOCK_NOT_FOUND") throw new Error("GET /blocks: " + JSON.stringify(none));

const block: Block | undefined = (await getBlock({ path: { id: "1" } })).data;
if (block?.data.height !== 1) throw new Error("getBlock: " + JSON.stringify(block));

const wallets = (await getWallets({ query: { limit: 2, orderBy: "balance:desc" } })).data;
const balance = wallets?.data[0]?.balance;
if (typeof balance !== "${amounts}") throw new Error("getWallets: " + JSON.stringify(wallets));

const found = (await searchTransactions({ body: { type: 3 }, query: { limit: 1 } })).data;
const asset = found?.data[0]?.asset;
const votes = asset !== undefined && "votes" in asset ? asset.votes : undefined;
if (!Array.isArray(votes) || !String(votes[0]).startsWith("+")) throw new Error("searchTransactions: " + JSON.stringify(found));

const { error } = await getBlock({ path: { id: "99999999" } });
if (error === undefined || !("code" in error) || error.code !== "BLOCK_NOT_FOUND") throw new Error("getBlock: " + JSON.stringify(error));
`;

type Content = Record<string, { schema?: { $ref?: string }; example?: unknown }>;

interface Document {
  paths: Record<string, Record<string, { responses?: Record<string, { content?: Content }> }>>;
  components: { schemas: Record<string, unknown> };
}

/** Makes Python classes of the replies' schemas, and writes down the example of each reply. */
const writePython = (document: string, folder: string): void => {
  // JSON Schema is what quicktype reads.
  const { paths, components } = JSON.parse(readFileSync(document, "utf8").replaceAll("#/components/schemas/", "#/definitions/")) as Document;
  const responses = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ responses = {} }) => Object.values(responses)));
  const examples = responses.flatMap(({ content }) => {
    const { schema, example } = content?.["application/json"] ?? {};
    return schema?.$ref === undefined || example === undefined ? [] : [{ schema: schema.$ref.slice("#/definitions/".length), example }];
  });
  const properties = Object.fromEntries(examples.map(({ schema }) => [schema, { $ref: `#/definitions/${schema}` }]));
  writeFileSync(join(folder, "schema.json"), JSON.stringify({ type: "object", properties, definitions: components.schemas }));
  writeFileSync(join(folder, "examples.json"), JSON.stringify(examples));
  run("quicktype", "--src-lang", "schema", "--lang", "python", "--top-level", "Replies", "--out", join(folder, "replies.py"), join(folder, "schema.json"));
};

const check = (described: Described, folder: string): void => {
  const { document } = described;
  run("spectral", "lint", document, "--ruleset", fileURLToPath(new URL("spectral.yaml", import.meta.url)), "--fail-severity", "hint");
  lintByRedocly(document);
  run("openapi-typescript", document, "--output", join(folder, "types.ts"));
  run("openapi-ts", "--input", document, "--output", join(folder, "client"), "--client", "@hey-api/client-fetch");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  symlinkSync(join(tools, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "program.ts"), programOf(described));
  compile(folder);
  writePython(document, folder);
};

/** Does not block: this process serves what the programs ask. */
const runPrograms = async (folder: string, api: string): Promise<void> => {
  const runFile = promisify(execFile);
  await runFile(process.execPath, ["--import", "tsx", join(folder, "program.ts")], { cwd: fileURLToPath(new URL("../../", import.meta.url)) });
  console.log("A program with the TypeScript clients has run.");
  if (spawnSync("python3", ["--version"]).status !== 0) return console.log("Python is not installed: its classes are not checked.");
  process.stdout.write((await runFile("python3", [fileURLToPath(new URL("read_replies.py", import.meta.url)), folder, api])).stdout);
};

install();
const folder = mkdtempSync(join(tmpdir(), "portico-openapi-"));
const plugin = createApiPlugin({ network: loadChain("core3-custom-c").network, events: new EventEmitter(), dataDir: join(folder, "data"), logger: silentLogger });
try {
  const origin = `http://127.0.0.1:${((await plugin.listen(0)).address() as AddressInfo).port}`;
  for (const described of await documents(origin, folder)) {
    const made = mkdtempSync(join(folder, "made-"));
    check(described, made);
    await runPrograms(made, described.api);
  }
} finally {
  await plugin.stop();
  rmSync(folder, { recursive: true });
}
