import { readFileSync } from "node:fs";
import { optionsTable as commandLineTable } from "../../examples/standalone/options.js";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { errorTable } from "../../src/errors.js";
import { type OptionDoc, optionDocs, readDefault } from "./options.js";

/** The tables of the READMEs, generated from the code. `npm run docs` writes them; a test compares them. */

interface RouteRow {
  method: string;
  path: string;
  resource: string;
  summary: string;
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

const routesTable = (routes: readonly RouteRow[]): string =>
  ["| | |", "|---|---|", ...routes.map(({ method, path, summary }) => `| \`${method} ${path}\` | ${summary} |`)].join("\n");

const optionRow = ({ name, text, default: given = "" }: OptionDoc, before = ""): string => {
  const { json, remark } = readDefault(given);
  const value = json === undefined ? remark : `\`${json}\`${remark === "" ? "" : ` (${remark})`}`;
  return `| ${[`\`${before}${name}\``, value, text].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
};

const optionsTable = (): string => {
  const { PorticoOptions = [], LakeOptions = [], WebhookOptions = [] } = optionDocs();
  const within: Partial<Record<string, OptionDoc[]>> = { lake: LakeOptions, webhooks: WebhookOptions };
  const rows = PorticoOptions.flatMap((option) => [optionRow(option), ...(within[option.name] ?? []).map((one) => optionRow(one, `${option.name}.`))]);
  return ["| option | default | |", "|---|---|---|", ...rows].join("\n");
};

const errorsTable = (): string =>
  [
    "| status | code | message |",
    "|---|---|---|",
    ...Object.entries(errorTable)
      .filter(([, { exposed }]) => exposed)
      .map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`),
    `| ${errorTable.INTERNAL.status} | \`INTERNAL\` | ${errorTable.INTERNAL.message}; the log has the rest, under the reply's \`X-Request-Id\` |`,
  ].join("\n");

/** Tables by their names in the READMEs: `<!-- table: name -->` ... `<!-- end -->`. */
export const tables: Record<string, () => string> = {
  "routes 1": () => routesTable(v1Routes),
  "routes 2": () => routesTable(v2Routes),
  options: optionsTable,
  errors: errorsTable,
  "command line": commandLineTable,
};

/** The READMEs, and the tables that each of them has. */
export const documents: Record<string, readonly string[]> = {
  "README.md": [],
  "types/README.md": ["options"],
  "src/README.md": [],
  "src/api/README.md": ["routes 1", "routes 2", "errors"],
  "src/webhooks/README.md": [],
  "src/conformance/README.md": [],
  "src/verify/README.md": [],
  "examples/README.md": [],
  "examples/standalone/README.md": ["command line"],
  "test/bench/README.md": [],
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
