import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { type Authenticator, connect, credsAuthenticator, type NatsConnection, tokenAuthenticator, usernamePasswordAuthenticator } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import { messageOf, PorticoError } from "../errors.js";

/** How to reach the servers of NATS. */
export interface NatsOptions {
  /**
   * URLs, such as `nats://10.0.0.7:4222`. If any of them is `tls://…`, all connections use TLS. A user and a password, or a token, stand
   * before the `@` as in any URL: `tls://node:secret@10.0.0.7:4222`. All servers get those of the first URL that has any.
   */
  servers: string | string[];
  /** File of credentials (`nsc generate creds`). Without credentials, a user or a token, anyone who reaches the servers can write what replicas read. @default none */
  credentials?: string;
  /** Files of TLS. @default none */
  tls?: {
    /** A private certificate authority. @default the system's, for `tls://` servers */
    caFile?: string;
    /** The client's certificate. @default none */
    certFile?: string;
    /** The key of the client's certificate. @default none */
    keyFile?: string;
  };
  /** Tells networks on one server apart, and several nodes of one network. @default "portico" */
  prefix?: string;
  /** How many servers of a cluster keep a stream. @default 3, or as many as the cluster has */
  replicas?: number;
  /** Milliseconds to wait until a server accepts or refuses the client. Then the next one is tried. @default 5000 */
  connectTimeout?: number;
}

const whyUnreadable = (error: unknown): string =>
  error instanceof Error && "code" in error && error.code === "ENOENT" ? "there is no such file" : messageOf(error);

/**
 * To be called once, when an option has just been given: a file that is missing then is a mistake. One that goes missing later may come
 * back, and is tried again.
 * @throws PorticoError OPTION_INVALID
 */
export const requireFiles = ({ credentials, tls: { caFile, certFile, keyFile } = {} }: NatsOptions): void => {
  for (const [option, file] of Object.entries({ credentials, "tls.caFile": caFile, "tls.certFile": certFile, "tls.keyFile": keyFile })) {
    try {
      if (file !== undefined) readFileSync(file);
    } catch (error) {
      throw new PorticoError("OPTION_INVALID", `the option \`${option}\` names ${file ?? ""}, which cannot be read: ${whyUnreadable(error)}`, { cause: error });
    }
  }
};

/** The client goes by its option `tls` alone: without it, a server, or who is in between, could do without TLS. */
const wantsTls = (servers: NatsOptions["servers"]): boolean => [servers].flat().some((server) => server.toLowerCase().startsWith("tls://"));

/** Of what can be parsed: the client also takes `host:port`. */
const urlsOf = (servers: NatsOptions["servers"]): URL[] => [servers].flat().filter((server) => URL.canParse(server)).map((server) => new URL(server));

/**
 * A server that is given by its address has a certificate for that address. The client says no name then, for which Node.js takes
 * `localhost`: the certificate must be that of one of the addresses given.
 */
const createIdentityCheck = (servers: NatsOptions["servers"]) => {
  const hosts = urlsOf(servers).map(({ hostname }) => hostname.replace(/[[\]]/g, ""));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return (host: string, certificate: PeerCertificate): Error | undefined => {
    if (host !== "localhost" || hosts.includes(host) || addresses.length === 0) return checkServerIdentity(host, certificate);
    const faults = addresses.map((address) => checkServerIdentity(address, certificate));
    return faults.includes(undefined) ? undefined : faults[0];
  };
};

/** @throws Error that shows nothing of the text */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Error("the user or the password in the URL has a % that must be written as %25", { cause: error });
  }
};

/** The client takes no account of what stands before the `@` of a URL. */
const loginIn = (servers: NatsOptions["servers"]): Authenticator | undefined => {
  const url = urlsOf(servers).find(({ username }) => username !== "");
  if (url === undefined) return undefined;
  const [user, password] = [decoded(url.username), decoded(url.password)];
  return password === "" ? tokenAuthenticator(user) : usernamePasswordAuthenticator(user, password);
};

/** Hosts and ports, for the log: user, password and token stay out of it, and so does what cannot be told apart from them. */
const whereOf = (servers: NatsOptions["servers"]): string => {
  const nameOf = (server: string): string => (/^[^\s/@#?]+$/.test(server) ? server : URL.canParse(server) ? new URL(server).host : "");
  const names = [servers].flat().map(nameOf).filter((name) => name !== "");
  return names.length === 0 ? "" : ` (NATS at ${names.join(", ")})`;
};

const authenticatorOf = async ({ servers, credentials }: NatsOptions): Promise<Authenticator | undefined> =>
  credentials === undefined ? loginIn(servers) : credsAuthenticator(await readFile(credentials));

/** Opens a connection that is kept open: it is opened again, for ever, when it is lost. Rejects while no server can be reached. */
const openConnection = async (options: NatsOptions, name: string): Promise<NatsConnection> => {
  const { servers, tls, connectTimeout = 5_000 } = options;
  const authenticator = await authenticatorOf(options);
  const identity = { checkServerIdentity: createIdentityCheck(servers) };
  return connect({
    servers,
    name,
    timeout: connectTimeout,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 2_000,
    maxPingOut: 2,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(tls !== undefined || wantsTls(servers) ? { tls: { ...tls, ...identity } } : {}),
  });
};

export interface LinkNeeds {
  /** What the server calls the connection. */
  name: string;
  /** Milliseconds between a failure and the next try. */
  retryDelay: number;
  logger: Pick<Logger, "warn" | "info"> | undefined;
  /** What the log says while it fails, before the reason, once it works again, and when it does for the first time. Each is said once. */
  says: { fails: string; works: string; begins?: string };
  /** Works until something fails. Calls `working` as soon as it does. The signal aborts when the link is stopped. */
  work(connection: NatsConnection, working: () => void, signal: AbortSignal): Promise<void>;
}

/** Work over a connection, begun again whenever it fails, until it is stopped. */
export interface Link {
  connection(): NatsConnection | undefined;
  /** Whether it works, and a server is there at present. */
  isConnected(): boolean;
  /** Why it does not work; undefined while nothing is wrong. */
  problem(): string | undefined;
  /** `before` is called with the connection before that is closed. */
  stop(before?: (connection: NatsConnection | undefined) => Promise<void>): Promise<void>;
}

/** Whether a server is there: a connection that is lost stays, and is opened again by the client itself. */
const watchServer = (connection: NatsConnection): (() => boolean) => {
  let isThere = true;
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") isThere = false;
      else if (type === "reconnect") isThere = true;
    }
  };
  void watch().catch(() => undefined);
  return () => isThere && !connection.isClosed();
};

export const keepLink = (options: NatsOptions, { name, retryDelay, logger, says, work }: LinkNeeds): Link => {
  const ending = new AbortController();
  const { signal } = ending;
  let connection: NatsConnection | undefined;
  let isServerThere = (): boolean => false;
  let isWorking = false;
  let problem: string | undefined;
  let begins = says.begins === undefined ? undefined : `${says.begins}${whereOf(options.servers)}`;

  const open = async (): Promise<NatsConnection> => {
    connection = await openConnection(options, name);
    isServerThere = watchServer(connection);
    return connection;
  };

  const working = (): void => {
    isWorking = true;
    const line = begins ?? (problem === undefined ? undefined : says.works);
    if (line !== undefined) logger?.info(line);
    [problem, begins] = [undefined, undefined];
  };

  const failed = (error: unknown): void => {
    if (signal.aborted) return;
    const message = messageOf(error);
    if (message !== problem) logger?.warn(`${says.fails}: ${message}${whereOf(options.servers)}`);
    problem = message;
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work(connection === undefined || connection.isClosed() ? await open() : connection, working, signal);
      } catch (error) {
        failed(error);
      }
      isWorking = false;
      await delay(retryDelay, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();

  return {
    connection: () => connection,
    isConnected: () => isWorking && isServerThere(),
    problem: () => problem ?? (connection === undefined || isServerThere() ? undefined : "no server can be reached"),
    stop: async (before) => {
      ending.abort();
      await before?.(connection);
      await connection?.close();
      await ended;
      // One that was being opened meanwhile.
      await connection?.close();
    },
  };
};

/** What a cluster says that is too small, or of which too few servers are there. */
const isTooMany = (error: unknown): boolean => /replicas|no suitable peers|insufficient resources/i.test(messageOf(error));

const wantedReplicas = ({ replicas }: Pick<NatsOptions, "replicas">, { info }: Pick<NatsConnection, "info">): number =>
  replicas ?? (info?.cluster === undefined ? 1 : 3);

/** Makes a stream that is kept by as many servers as there are, three at the most, or as the option says. */
export const addStream = async (manager: JetStreamManager, connection: NatsConnection, options: Pick<NatsOptions, "replicas">, config: Parameters<JetStreamManager["streams"]["add"]>[0]): Promise<StreamInfo> => {
  for (let replicas = wantedReplicas(options, connection); ; replicas--) {
    try {
      return await manager.streams.add({ ...config, num_replicas: replicas });
    } catch (error) {
      if (options.replicas !== undefined || replicas === 1 || !isTooMany(error)) throw error;
    }
  }
};

/** Has a stream kept by more servers, where there are more by now. It goes on as it is where that cannot be. */
export const extendStream = async (manager: JetStreamManager, connection: NatsConnection, options: Pick<NatsOptions, "replicas">, { config }: StreamInfo): Promise<void> => {
  for (let replicas = wantedReplicas(options, connection); replicas > config.num_replicas; replicas--) {
    try {
      return void (await manager.streams.update(config.name, { num_replicas: replicas }));
    } catch (error) {
      if (!isTooMany(error)) throw error;
    }
  }
};

/** The stream of one network's changes: its name, and its subject. */
export const streamOf = ({ prefix = "portico" }: Pick<NatsOptions, "prefix">, nethash: string): { name: string; subject: string } => {
  const network = nethash.slice(0, 16);
  return { name: `${prefix}-changes-${network}`, subject: `${prefix}.changes.${network}` };
};
