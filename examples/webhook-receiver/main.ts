import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { openLedger } from "./ledger.js";

const secret = process.env["WEBHOOK_SECRET"]; // data.secret of the reply that created the webhook
if (secret === undefined) throw new Error("Set WEBHOOK_SECRET to the webhook's secret (whsec_...).");
const webhook = new Webhook(secret);
const ledger = openLedger(process.env["LEDGER"] ?? "data/webhook-ledger.ndjson");

const server = createServer((request, response) => {
  if (request.method === "GET") {
    const textOf = (sums: ReadonlyMap<string, bigint>) => Object.fromEntries([...sums].map(([name, sum]) => [name, String(sum)]));
    response.end(JSON.stringify({ balances: textOf(ledger.bookings.balances), forged: textOf(ledger.bookings.forged) }));
    return;
  }
  const take = async (): Promise<void> => {
    try {
      const body = await text(request);
      webhook.verify(body, request.headers as Record<string, string>); // throws unless signed with the secret, and recently
      const id = String(request.headers["webhook-id"]);
      const isNew = ledger.take(id, body); // on the disk before it is answered
      console.log(id, isNew ? body.slice(0, 200) : "came before");
      response.writeHead(204).end(); // 2xx: delivered, it is not sent again
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.error("refused", request.headers["webhook-id"] ?? "a request without webhook-id", reason); // another secret, a late clock, not from the node
      response.writeHead(401).end(reason); // anything else but 410: it is sent again by the retry schedule
    }
  };
  void take();
});
server.listen(Number(process.env["PORT"] ?? 4100), "127.0.0.1", () => console.log("Waiting for webhooks."));
