import { isIP } from "node:net";
import { parseArgs } from "node:util";
import ipaddr from "ipaddr.js";
import { messageOf, UsageError } from "./host-error.js";

/** The command line's options, parsed. */
export interface HostOptions {
  network: string;
  host: string;
  /** 0: any free port. */
  port: number;
  dataDir: string;
  import?: string;
  forge: boolean;
  /** Milliseconds. */
  forgeInterval?: number;
  workers: number;
  secrets?: string;
  webhookToken?: string;
  /** Addresses or networks (CIDR). */
  allowTargets: string[];
  logLevel: LogLevel;
}

/** Names that `--network` accepts besides folders. */
export const networkNames = ["local", "testnet", "devnet", "mainnet"] as const;

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One option: `--help`, the README's table and the parser are made from these rows. A row without `value` is a switch. */
interface OptionRow {
  name: string;
  value?: string;
  default?: string;
  text: string;
}

export const optionRows = [
  { name: "network", value: "NAME|DIR", default: "local", text: `${networkNames.join(", ")}, or a folder with a fork's network.json, milestones.json, exceptions.json and genesisBlock.json` },
  { name: "host", value: "ADDRESS", default: "127.0.0.1", text: "address to serve on" },
  { name: "port", value: "PORT", default: "4003", text: "port to serve on; 0 picks a free one" },
  { name: "data-dir", value: "DIR", default: "data/NETWORK", text: "folder for the chain and its store; created if it is missing" },
  { name: "import", value: "FILE", text: "chain file to read first: one block with its transactions per line, genesis first" },
  { name: "no-forge", text: "do not forge: the tip stays where the chain ends" },
  { name: "forge-interval", value: "MS", text: "milliseconds between blocks, instead of the network's block time; the chain's clock runs ahead" },
  { name: "workers", value: "N", default: "1", text: "processes that serve requests; if more than one, a separate process forges, writes the store and delivers webhooks" },
  { name: "secrets", value: "FILE", text: 'file with the passphrases of the delegates to forge for, on a network other than local: {"secrets": ["a passphrase"], "bip38": ""}' },
  { name: "webhook-token", value: "TOKEN", text: "token that requests to the webhook routes must carry as Authorization; without it, one is generated and kept in the data folder" },
  { name: "allow-target", value: "CIDR", text: "private address or network that webhooks may reach, such as 10.1.0.0/16; separate several by commas. A node on loopback always allows loopback" },
  { name: "log-level", value: "LEVEL", default: "info", text: logLevels.join(", ") },
  { name: "help", text: "print this" },
] as const satisfies readonly OptionRow[];

type Name = (typeof optionRows)[number]["name"];

const rows: readonly OptionRow[] = optionRows;

const flag = ({ name, value }: OptionRow): string => `--${name}${value === undefined ? "" : ` ${value}`}`;

/** What `--help` prints. */
export const helpText = (): string => {
  const width = Math.max(...rows.map((row) => flag(row).length)) + 2;
  const lines = rows.map((row) => `  ${flag(row).padEnd(width)}${row.text}${row.default === undefined ? "" : ` (${row.default})`}`);
  return ["Usage: npm start -- [options]", "", "A node with Portico's interface: it keeps a chain, forges blocks and serves the chain.", "", ...lines].join("\n");
};

/** The same table in Markdown, for the README. */
export const optionsTable = (): string =>
  [
    "| option | default | |",
    "|---|---|---|",
    ...rows.map((row) => `| \`${flag(row).replaceAll("|", "\\|")}\` | ${row.default === undefined ? "" : `\`${row.default}\``} | ${row.text} |`),
  ].join("\n");

const known = (): string => rows.map(({ name }) => `--${name}`).join(", ");

/** Parses the arguments, with error messages of this host's own. @throws UsageError */
const parse = (args: string[]): { values: Partial<Record<Name, string | boolean>>; given: string[] } => {
  const options = Object.fromEntries(rows.map(({ name, value }) => [name, { type: value === undefined ? ("boolean" as const) : ("string" as const) }]));
  const { values, tokens } = (() => {
    try {
      return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
    } catch (error) {
      throw new UsageError(`The command line cannot be read: ${messageOf(error)}.`);
    }
  })();
  const given: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") throw new UsageError(`"${token.value}" does not belong to an option; the options are ${known()}.`);
    if (token.kind !== "option") continue;
    const row = rows.find(({ name }) => name === token.name);
    if (row === undefined) throw new UsageError(`There is no option ${token.rawName}; the options are ${known()}.`);
    if (given.includes(row.name)) throw new UsageError(`--${row.name} is given twice.`);
    given.push(row.name);
    if (row.value === undefined && token.value !== undefined) throw new UsageError(`--${row.name} takes no value.`);
    if (row.value !== undefined && (token.value === undefined || token.value === "" || (!token.inlineValue && token.value.startsWith("--")))) {
      throw new UsageError(`--${row.name} needs a value: ${flag(row)}.`);
    }
  }
  return { values: values, given };
};

const wholeNumber = (text: string, name: Name, from: number, to: number): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < from || value > to) throw new UsageError(`--${name} must be a whole number from ${from} to ${to}, not "${text}".`);
  return value;
};

const refusePairs = (given: string[], options: { network: string }): void => {
  const both = (one: Name, other: Name, why: string): void => {
    if (given.includes(one) && given.includes(other)) throw new UsageError(`--${one} and --${other} cannot be combined: ${why}.`);
  };
  both("no-forge", "forge-interval", "no blocks are forged");
  both("no-forge", "secrets", "no blocks are signed");
  if (options.network === "local" && given.includes("secrets")) {
    throw new UsageError("--secrets is for networks other than local: this host has the keys of local's delegates already.");
  }
};

const isLogLevel = (text: string): text is LogLevel => logLevels.some((level) => level === text);

/** Default name of the folder for a network's data. */
const folderOf = (network: string): string => network.replace(/[/\\]+$/, "").split(/[/\\]/).filter((part) => part !== "." && part !== "..").at(-1) ?? "network";

const loopback = ["127.0.0.0/8", "::1/128"];
const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

/** Addresses or networks, separated by commas. @throws UsageError */
const networksIn = (text: string): string[] => {
  const networks = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  for (const network of networks) {
    if (isIP(network) === 0 && !ipaddr.isValidCIDR(network)) throw new UsageError(`--allow-target must be addresses or networks such as 10.1.0.0/16, not "${network}".`);
  }
  return networks;
};

/** Checks a token as Portico does, but with a message in terms of the command line. @throws UsageError */
const tokenIn = (text: string): string => {
  if (text.length < 8 || text !== text.trim()) throw new UsageError("--webhook-token must have at least 8 characters, and no space at either end.");
  return text;
};

/** Parses the command line; undefined for `--help`. @throws UsageError */
export const readHostOptions = (args: string[]): HostOptions | undefined => {
  const { values, given } = parse(args);
  if (values.help === true) return undefined;
  const text = (name: Name): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : rows.find((row) => row.name === name)?.default;
  };
  const network = text("network") ?? "";
  refusePairs(given, { network });
  const logLevel = text("log-level") ?? "";
  if (!isLogLevel(logLevel)) throw new UsageError(`--log-level must be one of ${logLevels.join(", ")}, not "${logLevel}".`);
  const interval = text("forge-interval");
  const file = text("import");
  const secrets = text("secrets");
  const webhookToken = text("webhook-token");
  const host = text("host") ?? "";
  return {
    network,
    host,
    port: wholeNumber(text("port") ?? "", "port", 0, 65_535),
    dataDir: given.includes("data-dir") ? (text("data-dir") ?? "") : `data/${folderOf(network)}`,
    ...(file === undefined ? {} : { import: file }),
    forge: values["no-forge"] !== true,
    ...(interval === undefined ? {} : { forgeInterval: wholeNumber(interval, "forge-interval", 1, 86_400_000) }),
    workers: wholeNumber(text("workers") ?? "", "workers", 1, 64),
    ...(secrets === undefined ? {} : { secrets }),
    ...(webhookToken === undefined ? {} : { webhookToken: tokenIn(webhookToken) }),
    allowTargets: [...(isLoopback(host) ? loopback : []), ...networksIn(text("allow-target") ?? "")],
    logLevel,
  };
};
