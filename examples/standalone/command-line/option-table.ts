/**
 * Every option of the example host. The parser, `--help`, the README's table, the environment's names (`PORTICO_FORGE_INTERVAL`) and the
 * config file's (`forgeInterval`) are made from these rows: a new option is one row here and one member of `HostOptions`.
 */
export interface OptionRow {
  /** As on the command line, without the dashes. */
  name: string;
  /** One letter that stands for it on the command line. */
  short?: string;
  /** What its value is, for the help. A row without it is a switch. */
  value?: string;
  default?: string;
  text: string;
  /** Whether only the command line takes it: `PORTICO_BACKUP`, left in a container's environment, would make a copy of each of its nodes. */
  commandLineOnly?: boolean;
  /** Whether the file of `--config` does not take it, as what only the command line takes. */
  notInFile?: boolean;
}

/** Names that `--network` accepts besides folders. */
export const networkNames = ["local", "testnet", "devnet", "mainnet"] as const;

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ["json", "pretty"] as const;
export type LogFormat = (typeof logFormats)[number];

export const optionRows = [
  { name: "network", value: "NAME|DIR", default: "local", text: `${networkNames.join(", ")}, or a folder with a fork's network.json, milestones.json, exceptions.json and genesisBlock.json` },
  { name: "host", value: "ADDRESS", default: "127.0.0.1", text: "address to serve on" },
  { name: "port", value: "PORT", default: "4003", text: "port to serve on; 0 picks a free one" },
  { name: "base-path", value: "PATH", default: "/api", text: "where the API is mounted" },
  { name: "data-dir", value: "DIR", default: "data/NETWORK", text: "folder for chain and webhooks; created if missing" },
  { name: "import", value: "FILE|DIR|URL", text: "chain to read first: a file with a block per line, or a lake (folder or URL)" },
  { name: "follow", value: "URL", text: "be a replica of the node at this URL" },
  { name: "nats", value: "URL", text: "NATS servers that carry new blocks from node to replicas: nats://HOST or tls://USER:PASSWORD@HOST, separated by commas" },
  { name: "nats-creds", value: "FILE", text: "credentials for NATS" },
  { name: "nats-ca", value: "FILE", text: "certificate authority of NATS (PEM), besides those of the system" },
  { name: "nats-prefix", value: "NAME", default: "portico", text: "prefix of streams and subjects, the same for node and replicas" },
  { name: "nats-replicas", value: "N", text: "servers of a cluster that keep the changes; default: 3, or as many as there are" },
  { name: "lake", value: "DIR", text: "folder to write final blocks into, served at /api/lake" },
  { name: "lake-blocks", value: "N", default: "10000", text: "blocks per file of the lake; cannot be changed later" },
  { name: "lake-snapshots", value: "N", default: "100000", text: "blocks between two snapshots of the store in the lake; 0: none" },
  { name: "lake-key", value: "KEY", text: "key (base64) that must have signed the imported lake; default: the key of the first lake" },
  { name: "no-forge", text: "do not forge: the tip stays where the chain ends" },
  { name: "forge-interval", value: "MS", text: "milliseconds between blocks, instead of the network's block time" },
  { name: "workers", value: "N", default: "1", text: "processes that serve requests; if more than one, another writes the store and delivers webhooks" },
  { name: "secrets", value: "FILE", text: 'passphrases of the delegates to forge for: {"secrets": ["a passphrase"], "bip38": ""}' },
  { name: "webhook-token", value: "TOKEN", text: "token for the webhook routes (Authorization); default: generated and kept in the data folder" },
  { name: "replica-webhooks", text: "let a replica have webhooks of its own" },
  { name: "export-webhooks", value: "FILE", text: "write all webhooks with their secrets into FILE and exit; also beside a running node", commandLineOnly: true },
  { name: "import-webhooks", value: "FILE", text: "add the webhooks of such a file at start, with their ids and secrets; ids in use are refused", commandLineOnly: true },
  { name: "allow-target", value: "CIDR", text: "private addresses or networks that webhooks may reach, separated by commas; a node on loopback allows loopback" },
  { name: "trusted-proxy", value: "CIDR", text: "addresses or networks of proxies whose X-Forwarded-For is trusted, separated by commas" },
  { name: "url-file", value: "FILE", text: "file to write the API's URL into" },
  { name: "log-level", value: "LEVEL", default: "info", text: logLevels.join(", ") },
  { name: "log-format", value: "FORMAT", text: "json or pretty; default: pretty in a terminal, otherwise json" },
  { name: "access-log", text: "log each request below --base-path" },
  { name: "log-clients", text: "add client addresses to --access-log" },
  { name: "backup", value: "DIR", text: "copy the data folder into DIR and exit; also beside a running node", commandLineOnly: true },
  { name: "config", value: "FILE", text: 'JSON file with any of these options, in camelCase: {"port": 4003, "forgeInterval": 1000}', notInFile: true },
  { name: "verify", text: "read the whole store, print any damage, and exit: 0 if it is sound, otherwise 1; also beside a running node", commandLineOnly: true },
  { name: "version", text: "print the version", commandLineOnly: true },
  { name: "help", short: "h", text: "print this", commandLineOnly: true },
] as const satisfies readonly OptionRow[];

export type Name = (typeof optionRows)[number]["name"];

/** Options that exclude each other, and why. Where one comes from a stronger source than the other, it wins; otherwise both are refused. */
export const conflicts: readonly (readonly [one: Name, other: Name, why: string])[] = [
  ["no-forge", "forge-interval", "no blocks are forged"],
  ["no-forge", "secrets", "no blocks are signed"],
  ["follow", "import", "a replica takes its blocks from the node"],
  ["follow", "secrets", "a replica signs no blocks"],
  ["follow", "forge-interval", "a replica forges no blocks"],
  ["follow", "workers", "start several replicas, each with a data folder of its own, behind a balancer"],
];

/** The same rows, all of one type. */
export const rows: readonly (OptionRow & { name: Name })[] = optionRows;

export const flagOf = ({ name, short, value }: OptionRow): string => `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;

/** `PORTICO_FORGE_INTERVAL` for `forge-interval`. */
export const variableOf = (name: string): string => `PORTICO_${name.toUpperCase().replaceAll("-", "_")}`;

/** `forgeInterval` for `forge-interval`. */
export const memberOf = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `--backup, --verify, --version and --help`. */
const commandLineOnly = ((names: readonly string[]) => `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`)(rows.filter((row) => row.commandLineOnly).map(({ name }) => `--${name}`));

/** What `--help` prints. */
export const helpText = (): string => {
  const width = Math.max(...rows.map((row) => flagOf(row).length)) + 2;
  const lines = rows.map((row) => `  ${flagOf(row).padEnd(width)}${row.text}${row.default === undefined ? "" : ` (${row.default})`}`);
  return [
    "Usage: npm start -- [options]",
    "",
    "A node with Portico's interface: it keeps a chain, forges blocks and serves the chain.",
    "",
    ...lines,
    "",
    "The environment sets the same options (PORTICO_FORGE_INTERVAL=1000, PORTICO_NO_FORGE=true), and so does the file of --config or PORTICO_CONFIG.",
    `The command line wins over the environment, and the environment over the file. Only the command line takes ${commandLineOnly}.`,
  ].join("\n");
};

/** The same table in Markdown, for the README. */
export const optionsTable = (): string =>
  [
    "| | |",
    "|---|---|",
    ...rows.map((row) => `| \`${flagOf(row).replaceAll("|", "\\|")}\` | ${row.text}${row.default === undefined ? "" : `; default: \`${row.default}\``} |`),
  ].join("\n");
