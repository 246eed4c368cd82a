import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { type DeliveryWorker, natsMetricsText, startDeliveryWorker } from "portico/nats";

const usage = [
  "Usage: main.ts --nats URL [--nats-creds FILE] [--nats-ca FILE] [--nats-prefix NAME] [--allow-target CIDR,CIDR] [--concurrency N] [--metrics-port PORT]; also NATS_URL, NATS_CREDS, NATS_CA, NATS_PREFIX",
  "URL: nats://10.0.0.7:4222, or tls://user:password@10.0.0.7:4222, where / # ? @ and % of a password are written as %2F %23 %3F %40 %25.",
  "NAME: as the node's --nats-prefix, portico if that has none.",
].join("\n");

/** `message` must show nothing of what was given: there may be a password in it. */
const refuse = (message: string): never => {
  console.error(`${message}\n${usage}`);
  process.exit(2);
};

/** What Node.js says of an argument, but for a text that stands in the wrong place, which it shows. */
const whatIsWrong = (error: unknown): string => {
  const isPositional = error instanceof Error && "code" in error && error.code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL";
  if (isPositional || !(error instanceof Error)) return "One of the arguments does not belong to an option.";
  const [sentence = ""] = error.message.split(/\. |\n/);
  return `${sentence}.`;
};

const readArguments = () => {
  const options = {
    nats: { type: "string", default: process.env["NATS_URL"] ?? "" }, // tls:// for TLS
    "nats-creds": { type: "string", default: process.env["NATS_CREDS"] ?? "" }, // a file
    "nats-ca": { type: "string", default: process.env["NATS_CA"] ?? "" }, // a file
    "nats-prefix": { type: "string", default: process.env["NATS_PREFIX"] ?? "" }, // as the node's
    "allow-target": { type: "string", default: "" }, // as the node's
    concurrency: { type: "string", default: "64" },
    "metrics-port": { type: "string", default: "" }, // on loopback, at /metrics
    help: { type: "boolean", short: "h", default: false },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(whatIsWrong(error));
  }
};

const isNats = (server: string): boolean => URL.canParse(server) && /^(?:nats|tls):$/.test(new URL(server).protocol) && new URL(server).hostname !== "";

const values = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const [concurrency, metricsPort] = [Number(values.concurrency), Number(values["metrics-port"])];
if (values.nats === "") refuse("--nats is missing: the server that brings requests.");
if (!values.nats.split(",").every(isNats)) refuse("--nats must be a URL such as nats://10.0.0.7:4222, or several, separated by commas.");
if (!/^[\w-]{0,64}$/.test(values["nats-prefix"])) refuse("--nats-prefix must be 1 to 64 letters, digits, - or _.");
if (!Number.isInteger(concurrency) || concurrency < 1) refuse("--concurrency must be a whole number from 1 on.");
if (!Number.isInteger(metricsPort) || metricsPort < 0 || metricsPort > 65_535) refuse("--metrics-port must be a whole number from 0 to 65535.");

const fail = (error: unknown): never => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
};

/** The library refuses such a file, too, by the name of its own option. */
const requireFile = (option: "nats-creds" | "nats-ca"): void => {
  const file = values[option];
  try {
    if (file !== "") readFileSync(file);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    fail(new Error(`--${option} ${file} cannot be read: ${isMissing ? "there is no such file" : error instanceof Error ? error.message : String(error)}.`));
  }
};
requireFile("nats-creds");
requireFile("nats-ca");

const start = (): DeliveryWorker => {
  const servers = {
    servers: values.nats.split(","),
    ...(values["nats-creds"] === "" ? {} : { credentials: values["nats-creds"] }),
    ...(values["nats-ca"] === "" ? {} : { tls: { caFile: values["nats-ca"] } }),
    ...(values["nats-prefix"] === "" ? {} : { prefix: values["nats-prefix"] }),
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

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    metrics.close();
    void worker.stop().then(() => console.log(`The worker has sent ${worker.sent()} requests.`));
  });
}
