import { createServer } from "node:http";
import type { Booking } from "portico/client";
import { createReceiver } from "portico/receiver";
import { type Changes, openLedger } from "./ledger.js";

const secret = process.env["WEBHOOK_SECRET"]; // data.secret of the reply that created the webhook
if (secret === undefined) throw new Error("Set WEBHOOK_SECRET to the webhook's secret (whsec_...).");
const { balances, inbox } = openLedger(process.env["LEDGER"] ?? "data/webhook-ledger.ndjson");

const book = ({ address, id, in: received, out: sent, fee }: Booking, changes: Changes): void =>
  void changes.push([address, id, (received ?? 0n) - (sent ?? 0n) - (fee ?? 0n)]); // null where there is none

const receiver = createReceiver({
  secrets: [secret],
  inbox,
  on: {
    "block.applied": ({ data }, { id }) => console.log(id, "block", data.height, data.id),
    "booking.applied": ({ data }, { tx }) => book(data, tx),
  },
  reverted: ({ event, data }, { id, tx }) => {
    console.log(id, event, data.id);
    if (event === "booking.reverted") tx.push([data.address, data.id, 0n]);
  },
});

const server = createServer((request, response) => {
  if (request.method === "GET") response.end(JSON.stringify(Object.fromEntries([...balances].map(([address, amount]) => [address, String(amount)]))));
  else receiver.listener(request, response);
});
server.listen(Number(process.env["PORT"] ?? 4100), "127.0.0.1", () => console.log("Waiting for webhooks."));
