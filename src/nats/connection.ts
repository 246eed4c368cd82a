import { readFile } from "node:fs/promises";
import { connect, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";

/** How to reach the servers of NATS. */
export interface NatsOptions {
  /** URLs, such as `nats://10.0.0.7:4222` or `tls://…`. */
  servers: string | string[];
  /** File of credentials (`nsc generate creds`). Without it, whoever reaches the servers may write what replicas read. */
  credentials?: string;
  /** Files of TLS: a certificate authority of one's own, and a client's certificate and key. `tls://` servers use the system's authorities. */
  tls?: { caFile?: string; certFile?: string; keyFile?: string };
  /** Tells networks on one server apart, and several nodes of one network. Default: `portico`. */
  prefix?: string;
}

/** Milliseconds. */
const patience = 5_000;

/** Opens a connection that is kept open: it is opened again, for ever, when it is lost. Rejects while no server can be reached. */
export const openConnection = async ({ servers, credentials, tls }: NatsOptions, name: string): Promise<NatsConnection> =>
  connect({
    servers,
    name,
    timeout: patience,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 2_000,
    maxPingOut: 2,
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(await readFile(credentials)) }),
    ...(tls === undefined ? {} : { tls }),
  });

/** The stream of work for delivery workers, and the subjects beside it, which are kept by nobody. */
export const queueOf = ({ prefix = "portico" }: Pick<NatsOptions, "prefix">) => ({
  name: `${prefix}-deliveries`,
  jobs: `${prefix}.deliveries`,
  workers: `${prefix}.workers`,
  results: (node: string): string => `${prefix}.results.${node}`,
});

/** The stream of one network's changes: its name, and its subject. */
export const streamOf = ({ prefix = "portico" }: Pick<NatsOptions, "prefix">, nethash: string): { name: string; subject: string } => {
  const network = nethash.slice(0, 16);
  return { name: `${prefix}-changes-${network}`, subject: `${prefix}.changes.${network}` };
};
