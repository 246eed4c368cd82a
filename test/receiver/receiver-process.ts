/** A receiver that kills itself: `receiver-process.ts PORT SECRET STATEMENT PLACE…` (`openToDie`). It keeps the bookings of the chain in the table `paid`. */
import { createServer } from "node:http";
import type { Booking } from "../../src/client/index.js";
import { createReceiver, type Inbox, postgresInbox, sqliteInbox } from "../../src/receiver/index.js";
import { openToDie, type Query, queryOfClient, queryOfHandle } from "../fixtures/databases.js";

const [, , port = "", secret = "", statement, ...place] = process.argv;
const opened = openToDie(place, Number(statement));

const withQuery = <Tx>(inbox: Inbox<Tx>, queryOf: (tx: Tx) => Query): Inbox<Query> => ({ once: (id, handle) => inbox.once(id, (tx) => handle(queryOf(tx))) });
const nameOf = ({ address, id }: Booking): string => `${address} ${id}`;

const receiver = createReceiver({
  secrets: [secret],
  inbox: "sqlite" in opened ? withQuery(sqliteInbox(opened.sqlite), queryOfHandle) : withQuery(postgresInbox(opened.postgres), queryOfClient),
  on: {
    "booking.applied": async ({ data }, { id, tx }) => {
      await tx("INSERT INTO paid (booking, webhook_id) VALUES (?, ?) ON CONFLICT (booking) DO UPDATE SET webhook_id = ?", nameOf(data), id, id);
    },
  },
  reverted: async ({ event, data }, { tx }) => {
    if (event === "booking.reverted") await tx("DELETE FROM paid WHERE booking = ?", nameOf(data));
  },
});
createServer(receiver.listener).listen(Number(port), "127.0.0.1", () => process.stdout.write("listens\n"));
