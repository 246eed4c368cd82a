import { readFileSync } from "node:fs";
import ts from "typescript";
import { optionsTable as commandLineTable } from "../../examples/standalone/options.js";
import { createWorkerMetrics } from "../../examples/standalone/worker-metrics.js";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { coreAssets } from "../../src/api/v2/transactions.js";
import { coreTransactionTypes } from "../../src/chain/blocks/transaction-types.js";
import { errorTable } from "../../src/errors.js";
import { type OptionDoc, optionDocs, readDefault } from "./options.js";
import { describeEvents } from "../../src/follow/event-catalogue.js";
import { natsMetrics } from "../../src/nats/metrics.js";
import { conditionsInput } from "../../src/api/webhooks/schemas.js";
import { liveRoutes } from "../../src/live/routes.js";
import { createMetrics } from "../../src/operate/metrics.js";

/** The tables of the READMEs, generated from the code. `npm run docs` writes them; a test compares them. */

interface RouteRow {
  method: string;
  path: string;
  resource: string;
}

/** Routes that the interface must have. */
const contract: Record<1 | 2, readonly string[]> = {
  1: [
    "GET /signatures/fee",
    "GET /loader/autoconfigure",
    "GET /loader/status",
    "GET /loader/status/sync",
    "GET /delegates",
    "GET /delegates/voters",
    "GET /delegates/get",
    "GET /delegates/fee",
    "GET /delegates/count",
    "GET /delegates/forging/getForgedByAccount",
    "GET /delegates/search",
    "GET /delegates/getNextForgers",
  ],
  2: [
    "GET /node/configuration",
    "GET /node/configuration/crypto",
    "GET /node/fees",
    "GET /node/status",
    "GET /node/syncing",
    "GET /wallets",
    "GET /wallets/{id}",
    "GET /wallets/{id}/transactions",
    "GET /wallets/{id}/transactions/received",
    "GET /wallets/{id}/transactions/sent",
    "GET /wallets/{id}/votes",
    "GET /wallets/top",
    "POST /wallets/search",
    "GET /delegates",
    "GET /delegates/{id}",
    "GET /delegates/{id}/blocks",
    "GET /delegates/{id}/voters",
    "POST /delegates/search",
    "GET /votes",
    "GET /votes/{id}",
    "GET /peers",
    "GET /peers/{ip}",
    "GET /webhooks",
    "GET /webhooks/{id}",
    "POST /webhooks",
    "PUT /webhooks/{id}",
    "DELETE /webhooks/{id}",
  ],
};

const groupsOf = <T>(items: readonly T[], nameOf: (item: T) => string | number): [name: string | number, items: T[]][] =>
  [...new Set(items.map(nameOf))].map((name) => [name, items.filter((item) => nameOf(item) === name)]);

/** Paths alone, a line for each resource: the OpenAPI document has the rest. */
const pathsList = (routes: readonly RouteRow[]): string => {
  const pathsOf = (of: readonly RouteRow[]): string => of.map(({ method, path }) => `\`${method === "GET" ? "" : `${method} `}${path}\``).join(", ");
  return groupsOf(routes, ({ resource }) => resource).map(([, of]) => `- ${pathsOf(of)}`).join("\n");
};

const optionRow = ({ name, text, default: given = "" }: OptionDoc, before = ""): string => {
  const { json, remark } = readDefault(given);
  const value = json === undefined ? remark : `\`${json}\`${remark === "" ? "" : ` (${remark})`}`;
  return `| ${[`\`${before}${name}\``, value, text].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
};

let read: ReturnType<typeof optionDocs> | undefined;
const docsOf = (type: string): OptionDoc[] => (read ??= optionDocs())[type] ?? [];

const optionsTable = (): string => {
  const [PorticoOptions, LakeOptions, WebhookOptions] = [docsOf("PorticoOptions"), docsOf("LakeOptions"), docsOf("WebhookOptions")];
  const within: Partial<Record<string, OptionDoc[]>> = { lake: LakeOptions, webhooks: WebhookOptions };
  const rows = PorticoOptions.flatMap((option) => [optionRow(option), ...(within[option.name] ?? []).map((one) => optionRow(one, `${option.name}.`))]);
  return ["| option | default | |", "|---|---|---|", ...rows].join("\n");
};

/** Codes by status; those that say as much as their message share a row. */
const errorsTable = (): string => {
  const shown = Object.entries(errorTable).filter(([code, { exposed }]) => exposed || code === "INTERNAL");
  const saysAll = (code: string, message: string): boolean => code.split("_").every((word) => ` ${message.toUpperCase()}`.includes(` ${word}`));
  const rows = groupsOf(shown, ([, { status }]) => status).sort().flatMap(([status, of]) => {
    const alone = of.filter(([code, { message }]) => saysAll(code, message)).map(([code]) => `\`${code}\``);
    const explained = of.filter(([code, { message }]) => !saysAll(code, message)).map(([code, { message }]) => `| ${status} | \`${code}\` | ${message} |`);
    return [...(alone.length === 0 ? [] : [`| ${status} | ${alone.join(", ")} | |`]), ...explained];
  });
  return ["| status | code | message |", "|---|---|---|", ...rows].join("\n");
};

/** Errors that a host's calls reject with. */
const hostErrorsTable = (): string =>
  [
    "| code | message |",
    "|---|---|",
    ...Object.entries(errorTable)
      .filter(([code, { exposed }]) => !exposed && code !== "INTERNAL")
      .map(([code, { message }]) => `| \`${code}\` | ${message} |`),
  ].join("\n");

const eventsTable = (from: "chain" | "host") => (): string =>
  [
    "| | |",
    "|---|---|",
    ...describeEvents([], true)
      .filter(({ source }) => source === from)
      .map(({ event, description }) => `| \`${event}\` | ${description} |`),
  ].join("\n");

interface Shape {
  type?: string;
  properties?: Record<string, Shape>;
  items?: Shape;
}

/** An asset's shape in few words: its members, lists in brackets. */
const shapeOf = ({ properties, items }: Shape): string => {
  if (items !== undefined) return `[${shapeOf(items)}]`;
  return properties === undefined ? "string" : `{${Object.entries(properties).map(([name, member]) => (member.properties ?? member.items ? `${name}: ${shapeOf(member)}` : name)).join(", ")}}`;
};

/** Whom a transaction pays besides its fee, by the key of its type. */
const paid: Record<string, string> = {
  vote: "nobody; each vote is `+` or `-` before a delegate's public key",
  transfer: "`amount` to `recipientId`",
  timelockTransfer: "`amount` to `recipientId`",
  multiPayment: "each payment's `amount` to its `recipientId`",
  htlcLock: "nobody yet: `amount` is locked for `recipientId`",
  htlcClaim: "the lock's amount, less the fee, to the lock's recipient",
  htlcRefund: "the lock's amount, less the fee, to the lock's sender",
};

const transactionTypesTable = (): string =>
  [
    "| type | asset | pays |",
    "|---|---|---|",
    ...coreTransactionTypes.map(({ type, versions, key }) => {
      const asset = Object.entries(coreAssets).find(([name]) => name === key)?.[1] as Shape | undefined;
      return `| ${type} \`${key}\`${versions === undefined ? "" : ` (version ${versions.join()})`} | ${asset === undefined ? "" : `\`${shapeOf(asset)}\``} | ${paid[key] ?? "nobody"} |`;
    }),
  ].join("\n");

/** A node's metrics with something in each, as Prometheus reads them. */
const metricsText = async (): Promise<string> => {
  const metrics = createMetrics({
    reports: { health: () => ({ status: "ok", height: 1 }), pace: () => ({ forgedAt: 0, blocktime: 8 }) },
    clock: { now: () => 0, monotonic: () => 0 },
    sync: undefined,
    dataDir: ".",
    webhooks: () => ({ standing: () => Promise.resolve({ byState: { enabled: 0, failing: 0, disabled: 0 }, open: { pending: 0, retrying: 0 }, blocksBehind: 0 }) }),
    lake: () => ({ height: 1, age: 0 }),
  } as unknown as Parameters<typeof createMetrics>[0]);
  metrics.addEdge({ streams: { count: 0 }, cached: 0 });
  metrics.replied({ request: { method: "GET" }, status: 200, ms: 0, waited: 0, isStreamed: false } as unknown as Parameters<typeof metrics.replied>[0]);
  const nats = await natsMetrics({ publisher: { published: () => 0, problem: () => undefined }, tip: { received: () => 0, isConnected: () => true } });
  return metrics.text(() => [nats, ...createWorkerMetrics<object>().besides({}, 0)]);
};

const nodeMetrics = await metricsText();

const labelsOf = (name: string): string => {
  const [, labels = ""] = new RegExp(`^${name}(?:_bucket)?\\{([^}]*)\\}`, "m").exec(nodeMetrics) ?? [];
  const names = [...labels.matchAll(/(\w+)=/g)].map(([, label = ""]) => label).filter((label) => label !== "le");
  return names.length === 0 ? "" : `{${names.join()}}`;
};

const metricsTable = (): string =>
  [
    "| metric | |",
    "|---|---|",
    ...[...nodeMetrics.matchAll(/^# HELP (portico_\w+) (.+)$/gm)].map(([, name = "", help = ""]) => `| \`${name}${labelsOf(name)}\` | ${help} |`).sort(),
  ].join("\n");

const withoutBreaks = (text: string): string => text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"), ts.ScriptTarget.Latest, true);

/** The members of what an entry point takes, with what holds without them. */
const takenTable = (type: string) => (): string => {
  const rows = docsOf(type).map(({ name, text, default: given = "none" }) => {
    const without = given.startsWith("none: ") ? ` Without it: ${given.slice("none: ".length)}.` : given === "none" ? "" : ` Default: ${given}.`;
    return `| \`${name}\` | ${withoutBreaks(text + without)} |`;
  });
  return ["| | |", "|---|---|", ...rows].join("\n");
};

/** The members of a union of texts, each with its docstring. */
const unionTable = (file: string, name: string) => (): string => {
  const union = parse(file).statements.filter(ts.isTypeAliasDeclaration).find((one) => one.name.text === name)?.getText() ?? "";
  const rows = [...union.matchAll(/\/\*\* (.*?) \*\/\s*\| "([^"]+)"/g)].map(([, comment = "", member = ""]) => `| \`${member}\` | ${comment} |`);
  return ["| | |", "|---|---|", ...rows].join("\n");
};

/** Why each dependency is there. */
const reasons: Record<string, string> = {
  koa: "the framework that hosts mount Portico into",
  "@koa/router": "the router handed to hosts",
  "@types/koa": "types of `mount` and `router`",
  "koa-bodyparser": "reads request bodies",
  msgpackr: "reads LMDB's records for `verifyStore`",
  negotiator: "`Accept-Encoding`, and `Accept` of statements",
  "lru-cache": "the response cache, bounded in bytes",
  "range-parser": "reads `Range`, for files",
  htm: "the console's views (Preact), without a build",
  uplot: "the console's plots",
  "prom-client": "metrics, also of several processes",
  "rate-limiter-flexible": "the rate limit",
  ajv: "validates input against the routes' schemas",
  "@sinclair/typebox": "schemas that are types",
  "fastest-levenshtein": "suggests names for misspelt ones",
  "fast-json-stringify": "serializers from those schemas, exact for bigints",
  "lossless-json": "numbers in request bodies without rounding",
  "ipaddr.js": "addresses and CIDR ranges",
  lmdb: "the embedded store",
  "@noble/hashes": "SHA-256, RIPEMD-160",
  "@noble/curves": "public keys of multisignature wallets, signatures of blocks",
  canonicalize: "RFC 8785, for signing a lake's manifest",
  semver: "orders peers by version",
  "eventemitter3": "the hosts' emitter",
  "re2js": "regular expressions in linear time",
  undici: "delivers webhooks; asks a replica's node",
};

const readPackage = (path: string): { license?: string; dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(new URL(`../../${path}package.json`, import.meta.url), "utf8")) as ReturnType<typeof readPackage>;

const dependenciesTable = (): string =>
  [
    "| package | licence | why |",
    "|---|---|---|",
    ...Object.keys(readPackage("").dependencies ?? {}).map((name) => `| \`${name}\` | ${readPackage(`node_modules/${name}/`).license ?? "?"} | ${reasons[name] ?? "?"} |`),
  ].join("\n");

const rewardsTable = (): string => {
  const query = v2Routes.find(({ path }) => path === "/delegates/{id}/rewards")?.query as { properties?: Record<string, { description?: string }> } | undefined;
  return ["| parameter | |", "|---|---|", ...Object.entries(query?.properties ?? {}).map(([name, { description = "" }]) => `| \`${name}\` | ${withoutBreaks(description)} |`)].join("\n");
};

const streams = liveRoutes({ conditions: conditionsInput, eventNames: [], events: [], offersChanges: true } as unknown as Parameters<typeof liveRoutes>[0]);

/** Tables by their names in the READMEs: `<!-- table: name -->` ... `<!-- end -->`. */
export const tables: Record<string, () => string> = {
  "routes 1": () => pathsList(v1Routes),
  "routes 2": () => pathsList([...v2Routes, ...streams]),
  options: optionsTable,
  errors: errorsTable,
  "host errors": hostErrorsTable,
  "chain events": eventsTable("chain"),
  "host events": eventsTable("host"),
  "transaction types": transactionTypesTable,
  metrics: metricsTable,
  dependencies: dependenciesTable,
  rewards: rewardsTable,
  "ready problems": unionTable("types/plugin.ts", "ReadyProblem"),
  context: takenTable("NodeContext"),
  client: takenTable("ClientOptions"),
  follower: takenTable("RunFollowerOptions"),
  receiver: takenTable("ReceiverOptions"),
  "command line": commandLineTable,
};

/** The READMEs, and the tables that each of them has. */
export const documents: Record<string, readonly string[]> = {
  "CHANGELOG.md": [],
  "CONTRIBUTING.md": [],
  "README.md": [],
  "SECURITY.md": [],
  "types/README.md": ["context"],
  "src/README.md": ["dependencies"],
  "src/api/README.md": ["transaction types"],
  "src/api/v1/README.md": ["routes 1"],
  "src/api/v2/README.md": ["routes 2", "chain events", "host events", "errors"],
  "src/client/README.md": ["client"],
  "src/conformance/README.md": [],
  "src/follower/README.md": ["follower"],
  "src/lake/README.md": [],
  "src/options/README.md": ["options", "host errors"],
  "src/receiver/README.md": ["receiver"],
  "src/replica/README.md": [],
  "src/store/lmdb/safe/README.md": [],
  "src/verify/README.md": [],
  "src/webhooks/README.md": [],
  "examples/README.md": [],
  "examples/ark-core/README.md": [],
  "examples/ark-core-2/README.md": [],
  "examples/custom-fork/README.md": [],
  "examples/deploy/README.md": ["ready problems", "metrics"],
  "examples/deploy/sizing.md": [],
  "examples/follow/README.md": [],
  "examples/payout/README.md": ["rewards"],
  "examples/standalone/README.md": ["command line"],
  "examples/webhook-receiver/README.md": [],
  "test/README.md": [],
  "test/bench/README.md": [],
  "test/data/README.md": [],
  "test/promises/README.md": [],
};

export const fileOf = (document: string): URL => new URL(`../../${document}`, import.meta.url);
export const readDocument = (document: string): string => readFileSync(fileOf(document), "utf8");

/** A document with every table as generated now. */
export const withTables = (document: string): string =>
  document.replace(/<!-- table: ([^>]+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`there is a place for a table "${name}", which nobody makes`);
    return `<!-- table: ${name} -->\n${table()}\n<!-- end -->`;
  });

export const contractOf = (generation: 1 | 2): readonly string[] => contract[generation];
