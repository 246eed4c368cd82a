import { parseArgs } from "node:util";
import { startDeliveryWorker } from "portico/nats";

const { values } = parseArgs({
  options: {
    nats: { type: "string", default: process.env["NATS_URL"] ?? "" }, // tls:// for TLS
    "nats-creds": { type: "string", default: process.env["NATS_CREDS"] ?? "" }, // a file
    "allow-target": { type: "string", default: "" }, // as the node's
    concurrency: { type: "string", default: "64" },
  },
});
const concurrency = Number(values.concurrency);
if (values.nats === "" || !Number.isInteger(concurrency) || concurrency < 1) {
  console.error("Usage: main.ts --nats URL [--nats-creds FILE] [--allow-target CIDR,CIDR] [--concurrency N]; also NATS_URL, NATS_CREDS");
  process.exit(2);
}

const worker = startDeliveryWorker(
  { servers: values.nats, ...(values["nats-creds"] === "" ? {} : { credentials: values["nats-creds"] }) },
  { concurrency, allowTargets: values["allow-target"].split(",").map((text) => text.trim()).filter((text) => text !== ""), logger: console },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void worker.stop().then(() => console.log(`The worker has sent ${worker.sent()} requests.`)));
}
console.log(`The worker takes requests of webhooks from ${values.nats}.`);
