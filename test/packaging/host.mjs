import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns what the command prints. @throws if it fails; what it reports is shown */
export const run = (command, args, cwd, env = {}) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env: { ...outside, ...env }, maxBuffer: 1e8 });

/** Without the settings of the npm that runs this check, which would reach every npm below it. */
const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && name !== "INIT_CWD" && name !== "NODE_ENV"));

export const step = async (what, work) => {
  const begun = performance.now();
  process.stdout.write(`${what} ... `);
  await work();
  process.stdout.write(`ok (${((performance.now() - begun) / 1_000).toFixed(1)} s)\n`);
};

export const npmInstall = (folder, ...args) => run("npm", ["install", "--silent", "--prefer-offline", "--no-audit", "--no-fund", ...args], folder);

const networkFolder = join(root, "test/data/core3-custom-c/network");
export const network = Object.fromEntries(
  ["network", "milestones", "exceptions", "genesisBlock"].map((name) => [name, JSON.parse(gunzipSync(readFileSync(join(networkFolder, `${name}.json.gz`))))]),
);

const uses = (dataDir) => `
const refuses = (context) => { try { createApiPlugin(context); } catch (error) { return error instanceof PorticoError; } };
if (!refuses({ network: {}, events: {} })) throw new Error("a context that is not valid was accepted");
const serve = async () => {
  const network = JSON.parse(readFileSync("network.json", "utf8"));
  const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir: ${JSON.stringify(dataDir)} });
  const server = await plugin.listen(0);
  const reply = await (await fetch("http://127.0.0.1:" + server.address().port + "/api/node/status")).json();
  if (reply.data.now !== 1) throw new Error("the genesis block is not served: " + JSON.stringify(reply));
  const client = createClient("http://127.0.0.1:" + server.address().port);
  const { supply } = await client.blockchain.get();
  if (typeof supply !== "bigint") throw new Error("the client has made no bigint of " + supply);
  if ([runFollower, createReceiver, verifyProof].some((each) => typeof each !== "function")) throw new Error("a library has no entry point");
  await plugin.stop();
};
serve();
`;

const imports = `import { EventEmitter } from "node:events"; import { readFileSync } from "node:fs"; import { createApiPlugin, PorticoError } from "portico"; import { createClient } from "portico/client"; import { runFollower } from "portico/follower"; import { createReceiver } from "portico/receiver"; import { verifyProof } from "portico/verify";`;
const requires = `const { EventEmitter } = require("node:events"); const { readFileSync } = require("node:fs"); const { createApiPlugin, PorticoError } = require("portico"); const { createClient } = require("portico/client"); const { runFollower } = require("portico/follower"); const { createReceiver } = require("portico/receiver"); const { verifyProof } = require("portico/verify");`;

const consumer = `
import { createApiPlugin, type ApiPlugin, type ChainAdapter, type NodeContext } from "portico";
import { type ChainRules, createChainRules } from "portico/chain";
import { type Client, createClient, type Wallet } from "portico/client";
import { describeConformance } from "portico/conformance";
import { runFollower, memoryStore } from "portico/follower";
import { createReceiver } from "portico/receiver";
import { type VerifiedProof, verifyProof } from "portico/verify";
export const plugin = (context: NodeContext): ApiPlugin => createApiPlugin(context);
export const adapter = (of: ApiPlugin): ChainAdapter => of.chain;
export const rules = (context: NodeContext): ChainRules => createChainRules(context.network);
export const conformance = describeConformance;
export const client: Client = createClient("http://127.0.0.1:4003");
export const balance = (wallet: Wallet): bigint => wallet.balance;
export const following = runFollower({ client, store: memoryStore(), apply: (_, block) => block.height.toFixed(), revert: () => undefined });
export const receiver = createReceiver({ secrets: ["whsec_AAAA"], on: { "booking.applied": ({ data }) => data.address.length } });
export const verified: (proof: unknown, options: Parameters<typeof verifyProof>[1]) => VerifiedProof = verifyProof;
// @ts-expect-error: a number is no Koa app; it would pass if Koa's types were missing
export const app: Parameters<ApiPlugin["mount"]>[0] = 1;
`;

const fromCommonJs = `
import portico = require("portico");
import { createApiPlugin } from "portico";
export const plugin = (context: portico.NodeContext): portico.ApiPlugin => createApiPlugin(context);
`;

/** An empty host in a folder that this makes; `npmrc` has its npm settings. */
export const createHost = (folder, npmrc = "") => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "host", private: true }));
  writeFileSync(join(folder, ".npmrc"), npmrc);
  writeFileSync(join(folder, "network.json"), JSON.stringify(network));
  writeFileSync(join(folder, "esm.mjs"), imports + uses("data-esm"));
  writeFileSync(join(folder, "cjs.cjs"), requires + uses("data-cjs"));
  return folder;
};

export const importAndServe = (host) => run("node", ["esm.mjs"], host);
export const requireAndServe = (host) => run("node", ["cjs.cjs"], host);

/** Compiles the host's TypeScript. A file's name determines its module system only in the modes of Node. */
export const compileHost = (host, { module, moduleResolution, skipLibCheck = false }) => {
  writeFileSync(join(host, "host.ts"), consumer);
  writeFileSync(join(host, "host.mts"), consumer);
  writeFileSync(join(host, "host.cts"), fromCommonJs);
  const compilerOptions = { strict: true, target: "ES2022", module, moduleResolution, skipLibCheck, noEmit: true, types: ["node"] };
  const named = module.startsWith("Node") ? ["host.mts", "host.cts"] : [];
  writeFileSync(join(host, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["host.ts", ...named] }));
  run("node", [join(root, "node_modules/typescript/bin/tsc"), "-p", join(host, "tsconfig.json")], root);
};
