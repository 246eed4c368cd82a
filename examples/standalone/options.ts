import { isNetwork, urlOf } from "../../src/net/addresses.js";
import { interfaceMeant } from "../../src/replica/node-client.js";
import { type Environment, fromCommandLine, fromEnvironment, fromFile, type GivenOptions, merged } from "./command-line/option-sources.js";
import { type LogFormat, logFormats, type LogLevel, logLevels, type Name, rows } from "./command-line/option-table.js";
import { UsageError } from "./program/host-error.js";

export { helpText, type LogFormat, type LogLevel, logLevels, networkNames, optionRows, optionsTable } from "./command-line/option-table.js";

/** The options of this host, parsed. */
export interface HostOptions {
  network: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Where the interface is mounted. */
  basePath: string;
  dataDir: string;
  import?: string;
  /** URL of the node to be a replica of. */
  follow?: string;
  /** NATS server that carries new blocks from the node to its replicas. */
  nats?: string;
  /** File of credentials for it. */
  natsCreds?: string;
  /** File of the certificate authority of its certificate. */
  natsCa?: string;
  /** What its streams and subjects begin with. */
  natsPrefix?: string;
  /** Servers of a cluster that keep the stream. */
  natsReplicas?: number;
  /** Folder. */
  lake?: string;
  /** Blocks in a file of the lake. */
  lakeBlocks?: number;
  /** Blocks between two snapshots. */
  lakeSnapshots?: number;
  /** In base64. */
  lakeKey?: string;
  forge: boolean;
  /** Milliseconds. */
  forgeInterval?: number;
  workers: number;
  secrets?: string;
  webhookToken?: string;
  /** Addresses or networks (CIDR). */
  allowTargets: string[];
  /** Addresses or networks (CIDR). */
  trustedProxies?: string[];
  logLevel: LogLevel;
  /** Only to verify the store, and that it is of the network if one was named. */
  verify?: "network" | "any";
  logFormat: LogFormat;
  accessLog: boolean;
  logClients?: true;
  /** File to write the interface's URL into. */
  urlFile?: string;
  /** Whether a replica has webhooks of its own. */
  replicaWebhooks?: true;
  /** The file to write webhooks into, instead of running a node. */
  exportWebhooks?: string;
  /** The file whose webhooks are added first. */
  importWebhooks?: string;
  /** The folder to copy the data folder into, instead of running a node. */
  backup?: string;
}

/** What was asked for instead of a node; undefined if nothing was. @throws UsageError */
export const askedFor = (args: readonly string[]): "help" | "version" | undefined => {
  const given = fromCommandLine(args);
  return given.has("help") ? "help" : given.has("version") ? "version" : undefined;
};

/** Reads options by name, with errors in the words of whoever set them. */
const createReading = (given: GivenOptions) => {
  const text = (name: Name): string | undefined => {
    const value = given.get(name)?.value;
    return typeof value === "string" ? value : rows.find((row) => row.name === name)?.default;
  };
  const label = (name: Name): string => given.get(name)?.label ?? `--${name}`;
  return {
    has: (name: Name): boolean => given.has(name),
    label,
    text,
    wholeNumber: (name: Name, from: number, to: number): number => {
      const written = text(name) ?? "";
      const value = Number(written);
      if (!/^\d+$/.test(written) || value < from || value > to) throw new UsageError(`${label(name)} must be a whole number from ${from} to ${to}, not "${written}".`);
      return value;
    },
    oneOf: <Value extends string>(name: Name, values: readonly Value[]): Value => {
      const written = text(name) ?? "";
      const found = values.find((value) => value === written);
      if (found === undefined) throw new UsageError(`${label(name)} must be one of ${values.join(", ")}, not "${written}".`);
      return found;
    },
  };
};

type Reading = ReturnType<typeof createReading>;

/** Default name of the folder for a network's data. */
const folderOf = (network: string): string => network.replace(/[/\\]+$/, "").split(/[/\\]/).filter((part) => part !== "." && part !== "..").at(-1) ?? "network";

const loopback = ["127.0.0.0/8", "::1/128"];
const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

/** Addresses or networks, separated by commas. @throws UsageError */
const networksIn = ({ text, label }: Reading, name: "allow-target" | "trusted-proxy"): string[] => {
  const networks = (text(name) ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
  for (const network of networks) {
    if (!isNetwork(network)) throw new UsageError(`${label(name)} must be addresses or networks such as 10.1.0.0/16, not "${network}".`);
  }
  return networks;
};

/** Checks a token as Portico does, but with a message in terms of the command line. @throws UsageError */
const tokenIn = ({ text, label }: Reading): string | undefined => {
  const token = text("webhook-token");
  if (token !== undefined && (token.length < 8 || token !== token.trim())) throw new UsageError(`${label("webhook-token")} must have at least 8 characters, and no space at either end.`);
  return token;
};

/** @throws UsageError */
const basePathIn = ({ text, label }: Reading): string => {
  const path = text("base-path") ?? "";
  // The page of links is at the root.
  if (!/^(?:\/[\w.~-]+)+$/.test(path)) throw new UsageError(`${label("base-path")} must be a path such as /node/api, without a slash at its end, not "${path}".`);
  return path;
};

/** @throws UsageError */
const keyIn = ({ text, label }: Reading): string | undefined => {
  const key = text("lake-key");
  if (key !== undefined && !/^[A-Za-z0-9+/]{43}=$/.test(key)) throw new UsageError(`${label("lake-key")} must be an ed25519 public key, 32 bytes in base64.`);
  return key;
};

const isUrlOf = (protocols: RegExp, text: string): boolean => {
  const { protocol = "", hostname = "" } = urlOf(text) ?? {};
  return protocols.test(protocol) && hostname !== "";
};

/** @throws UsageError. It shows no part of the URL that there may be a password in */
const urlIn = ({ text, label }: Reading): string | undefined => {
  const url = text("follow");
  if (url !== undefined && !isUrlOf(/^https?:$/, url)) throw new UsageError(`${label("follow")} must be a URL such as http://10.0.0.5:4003.`);
  const meant = url === undefined ? undefined : interfaceMeant(url);
  if (meant !== undefined) throw new UsageError(`${label("follow")} takes the node's origin or the URL of its interface, without a version or a query: ${meant}.`);
  return url;
};

/** @throws UsageError. It shows no part of the URL: there may be a password in it */
const natsIn = ({ text, label }: Reading): string | undefined => {
  const url = text("nats");
  if (url !== undefined && !url.split(",").every((one) => isUrlOf(/^(?:nats|tls):$/, one))) throw new UsageError(`${label("nats")} must be a URL such as nats://10.0.0.7:4222; in a user or password, characters such as / # ? @ , and % are written as %2F %23 %3F %40 %2C %25. Several are separated by commas.`);
  return url;
};

/** NATS lets names of streams have these, among others. @throws UsageError */
const natsPrefixIn = ({ has, text, label }: Reading): string | undefined => {
  const prefix = has("nats-prefix") ? text("nats-prefix") : undefined;
  if (prefix !== undefined && !/^[\w-]{1,64}$/.test(prefix)) throw new UsageError(`${label("nats-prefix")} must be 1 to 64 letters, digits, - or _, not "${prefix}".`);
  return prefix;
};

/** @throws UsageError */
const refuseLogins = ({ text, label }: Reading): void => {
  for (const name of ["follow", "import"] as const) {
    const url = text(name) ?? "";
    if (name === "import" && /^https?:/.test(url) && !isUrlOf(/^https?:$/, url)) throw new UsageError(`${label(name)} is not a URL.`);
    if (isUrlOf(/^https?:$/, url) && new URL(url).username !== "") throw new UsageError(`${label(name)} takes a URL without a user and a password.`);
  }
};

/** Options that would do nothing without another one. */
const needed = [
  ["nats-creds", "nats"],
  ["nats-ca", "nats"],
  ["nats-prefix", "nats"],
  ["nats-replicas", "nats"],
  ["replica-webhooks", "follow"],
  ["lake-blocks", "lake"],
  ["lake-snapshots", "lake"],
  ["log-clients", "access-log"],
] as const satisfies readonly (readonly [Name, Name])[];

/** @throws UsageError */
const refuseIdle = ({ has, label }: Reading): void => {
  for (const [name, other] of needed) if (has(name) && !has(other)) throw new UsageError(`${label(name)} does nothing without --${other}.`);
};

/** What is done in the place of running a node, and options of the command line that would then be passed over. Other sources may have a node's. */
const jobs = [
  ["verify", "a store is only read"],
  ["backup", "a data folder is only copied"],
  ["export-webhooks", "webhooks are only written into a file"],
] as const;
const nodesOwn = [
  ...["follow", "import", "lake", "lake-blocks", "lake-snapshots", "lake-key", "nats", "secrets", "forge-interval", "url-file"],
  ...["replica-webhooks", "import-webhooks"],
] as const;

/** @throws UsageError */
const refusePassedOver = (commandLine: GivenOptions): void => {
  for (const [job, why] of jobs.filter(([name]) => commandLine.has(name))) {
    const other = [...nodesOwn, ...jobs.map(([name]) => name)].find((name) => name !== job && commandLine.has(name));
    if (other !== undefined) throw new UsageError(`--${job} and --${other} cannot be combined: ${why}.`);
  }
};

const refuseSecrets = ({ has, label }: Reading): void => {
  if (has("secrets")) throw new UsageError(`${label("secrets")} is for networks other than local; this host already has the keys of local's delegates.`);
};

/** Members whose values are defined. */
const defined = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };

/** Where this host is started: its environment, and whether a person looks at its output. */
export interface Surroundings {
  environment?: Environment;
  isTerminal?: boolean;
  /** Is told of variables that are no options, but look like one. */
  warn?: (message: string) => void;
}

/** Reads the command line, the environment and the file of `--config`. @throws UsageError */
export const readHostOptions = (args: readonly string[], { environment = {}, isTerminal = false, warn = () => undefined }: Surroundings = {}): HostOptions => {
  const commandLine = fromCommandLine(args);
  const fromOutside = fromEnvironment(environment, warn);
  const config = (commandLine.get("config") ?? fromOutside.get("config"))?.value;
  const reading = createReading(merged(commandLine, fromOutside, ...(typeof config === "string" ? [fromFile(config)] : [])));
  const { has, text, wholeNumber, oneOf } = reading;
  const network = text("network") ?? "";
  if (network === "local") refuseSecrets(reading);
  refusePassedOver(commandLine);
  refuseIdle(reading);
  refuseLogins(reading);
  const host = text("host") ?? "";
  return {
    network,
    host,
    port: wholeNumber("port", 0, 65_535),
    basePath: basePathIn(reading),
    dataDir: has("data-dir") ? (text("data-dir") ?? "") : `data/${has("follow") ? "replica" : folderOf(network)}`,
    forge: !has("no-forge"),
    workers: wholeNumber("workers", 1, 64),
    allowTargets: [...(isLoopback(host) ? loopback : []), ...networksIn(reading, "allow-target")],
    logLevel: oneOf("log-level", logLevels),
    logFormat: has("log-format") ? oneOf("log-format", logFormats) : isTerminal ? "pretty" : "json",
    accessLog: has("access-log"),
    ...defined({
      trustedProxies: has("trusted-proxy") ? networksIn(reading, "trusted-proxy") : undefined,
      logClients: has("log-clients") ? (true as const) : undefined,
      verify: has("verify") ? (has("network") ? "network" : "any") : undefined,
      import: text("import"),
      follow: urlIn(reading),
      nats: natsIn(reading),
      natsCreds: text("nats-creds"),
      natsCa: text("nats-ca"),
      natsPrefix: natsPrefixIn(reading),
      natsReplicas: has("nats-replicas") ? wholeNumber("nats-replicas", 1, 5) : undefined,
      lake: text("lake"),
      lakeBlocks: has("lake-blocks") ? wholeNumber("lake-blocks", 1, 10_000_000) : undefined,
      lakeSnapshots: has("lake-snapshots") ? wholeNumber("lake-snapshots", 0, 1_000_000_000) : undefined,
      lakeKey: keyIn(reading),
      forgeInterval: has("forge-interval") ? wholeNumber("forge-interval", 1, 86_400_000) : undefined,
      secrets: text("secrets"),
      webhookToken: tokenIn(reading),
      urlFile: text("url-file"),
      replicaWebhooks: has("replica-webhooks") ? (true as const) : undefined,
      exportWebhooks: text("export-webhooks"),
      importWebhooks: text("import-webhooks"),
      backup: text("backup"),
    }),
  };
};
