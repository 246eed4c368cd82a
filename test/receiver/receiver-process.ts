/** A receiver to be killed: `receiver-process.ts PORT SECRET POSTGRES_PORT USER`. It keeps the bookings of the chain in the table `paid`. */
import { createServer } from "node:http";
import pg from "pg";
import type { Booking } from "../../src/client/index.js";
import { createReceiver, postgresInbox } from "../../src/receiver/index.js";

const [, , port = "", secret = "", postgresPort = "", user = ""] = process.argv;
const pool = new pg.Pool({ host: "127.0.0.1", port: Number(postgresPort), user, database: "postgres" });
// A kill of PostgreSQL's connection is no end of the process.
pool.on("error", () => undefined);

const nameOf = ({ address, id }: Booking): string => `${address} ${id}`;

const receiver = createReceiver({
  secrets: [secret],
  inbox: postgresInbox(pool),
  on: {
    "booking.applied": async ({ data }, { id, tx }) => {
      await tx.query("INSERT INTO paid (booking, webhook_id) VALUES ($1, $2) ON CONFLICT (booking) DO UPDATE SET webhook_id = $2", [nameOf(data), id]);
    },
  },
  reverted: async ({ event, data }, { tx }) => {
    if (event === "booking.reverted") await tx.query("DELETE FROM paid WHERE booking = $1", [nameOf(data)]);
  },
});
createServer(receiver.listener).listen(Number(port), "127.0.0.1", () => process.stdout.write("listens\n"));
