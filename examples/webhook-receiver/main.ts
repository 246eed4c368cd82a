import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const secret = process.env["WEBHOOK_SECRET"]; // data.secret of the reply that created the webhook
if (secret === undefined) throw new Error("Set WEBHOOK_SECRET to the webhook's secret (whsec_...).");
const webhook = new Webhook(secret);

const server = createServer((request, response) => {
  void text(request).then((body) => {
    try {
      webhook.verify(body, request.headers as Record<string, string>); // throws unless signed with the secret, and recently
      console.log(request.headers["webhook-id"], body.slice(0, 200));
      response.writeHead(204).end(); // 2xx: delivered, it is not sent again
    } catch {
      response.writeHead(401).end(); // anything else but 410: it is sent again by the retry schedule
    }
  });
});
server.listen(Number(process.env["PORT"] ?? 4100), "127.0.0.1", () => console.log("Waiting for webhooks."));
