import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { natsMetricsText, startDeliveryWorker } from "portico/nats";

const { values } = parseArgs({
  options: {
    nats: { type: "string", default: process.env["NATS_URL"] ?? "" }, // tls:// for TLS
    "nats-creds": { type: "string", default: process.env["NATS_CREDS"] ?? "" }, // a file
    "nats-ca": { type: "string", default: process.env["NATS_CA"] ?? "" }, // a file
    "allow-target": { type: "string", default: "" }, // as the node's
    concurrency: { type: "string", default: "64" },
    "metrics-port": { type: "string", default: "" }, // on loopback, at /metrics
  },
});
const [concurrency, metricsPort] = [Number(values.concurrency), Number(values["metrics-port"])];
if (!Number.isInteger(metricsPort) || metricsPort < 0 || metricsPort > 65_535 || values.nats === "" || !Number.isInteger(concurrency) || concurrency < 1) {
  console.error("Usage: main.ts --nats URL [--nats-creds FILE] [--nats-ca FILE] [--allow-target CIDR,CIDR] [--concurrency N] [--metrics-port PORT]; also NATS_URL, NATS_CREDS, NATS_CA");
  process.exit(2);
}

const worker = startDeliveryWorker(
  {
    servers: values.nats,
    ...(values["nats-creds"] === "" ? {} : { credentials: values["nats-creds"] }),
    ...(values["nats-ca"] === "" ? {} : { tls: { caFile: values["nats-ca"] } }),
  },
  { concurrency, allowTargets: values["allow-target"].split(",").map((text) => text.trim()).filter((text) => text !== ""), logger: console },
);
const metrics = createServer((request, response) => {
  if (request.url !== "/metrics") return void response.writeHead(404).end();
  void natsMetricsText({ worker }).then((text) => response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(text));
});
if (values["metrics-port"] !== "") metrics.listen(metricsPort, "127.0.0.1");

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    metrics.close();
    void worker.stop().then(() => console.log(`The worker has sent ${worker.sent()} requests.`));
  });
}
console.log(`The worker takes requests of webhooks from ${values.nats.split("@").at(-1)}.`); // without a password
