import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { type DeliveryWorker, natsMetricsText, startDeliveryWorker } from "portico/nats";

/** Shows nothing of what was given: there may be a password in it. */
const refuse = (): never => {
  console.error("Usage: main.ts --nats URL [--nats-creds FILE] [--nats-ca FILE] [--allow-target CIDR,CIDR] [--concurrency N] [--metrics-port PORT]; also NATS_URL, NATS_CREDS, NATS_CA");
  console.error("URL: nats://10.0.0.7:4222, or tls://user:password@10.0.0.7:4222, where / # ? @ and % of a password are written as %2F %23 %3F %40 %25.");
  process.exit(2);
};

const readArguments = () => {
  const options = {
    nats: { type: "string", default: process.env["NATS_URL"] ?? "" }, // tls:// for TLS
    "nats-creds": { type: "string", default: process.env["NATS_CREDS"] ?? "" }, // a file
    "nats-ca": { type: "string", default: process.env["NATS_CA"] ?? "" }, // a file
    "allow-target": { type: "string", default: "" }, // as the node's
    concurrency: { type: "string", default: "64" },
    "metrics-port": { type: "string", default: "" }, // on loopback, at /metrics
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch {
    return refuse();
  }
};

/** Host and port of a server, without user and password; empty for what is none. */
const addressOf = (server: string): string => {
  if (/^[^\s/@#?]+$/.test(server)) return server;
  const url = URL.canParse(server) ? new URL(server) : undefined;
  return url !== undefined && /^(?:nats|tls):$/.test(url.protocol) ? url.host : "";
};

const values = readArguments();
const address = addressOf(values.nats);
const [concurrency, metricsPort] = [Number(values.concurrency), Number(values["metrics-port"])];
if (!Number.isInteger(metricsPort) || metricsPort < 0 || metricsPort > 65_535 || address === "" || !Number.isInteger(concurrency) || concurrency < 1) refuse();

const fail = (error: unknown): never => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
};

const start = (): DeliveryWorker => {
  const servers = {
    servers: values.nats,
    ...(values["nats-creds"] === "" ? {} : { credentials: values["nats-creds"] }),
    ...(values["nats-ca"] === "" ? {} : { tls: { caFile: values["nats-ca"] } }),
  };
  try {
    return startDeliveryWorker(servers, { concurrency, allowTargets: values["allow-target"].split(",").map((text) => text.trim()).filter((text) => text !== ""), logger: console });
  } catch (error) {
    return fail(error);
  }
};

const worker = start();
const metrics = createServer((request, response) => {
  if (request.url !== "/metrics") return void response.writeHead(404).end();
  void natsMetricsText({ worker }).then((text) => response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(text));
});
metrics.once("error", fail);
if (values["metrics-port"] !== "") metrics.listen(metricsPort, "127.0.0.1");

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    metrics.close();
    void worker.stop().then(() => console.log(`The worker has sent ${worker.sent()} requests.`));
  });
}
console.log(`The worker takes requests of webhooks from ${address}.`);
