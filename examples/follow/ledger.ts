import { EventSource } from "eventsource";
import { createBookings } from "./bookings.js";

const names = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

/** Keeps every wallet's balance by following a node from genesis on, through reorganisations. */
export const followLedger = (api: string, onCursor: (cursor: string) => void) => {
  const bookings = createBookings();
  const source = new EventSource(`${api}/events?after=genesis&event=${names.join()}`);
  /** Events of a group that has not come to its end: only as a whole may they change the ledger. */
  let group: { name: string; data: unknown }[] = [];
  let last = "genesis";
  for (const name of names) {
    source.addEventListener(name, ({ data, lastEventId }) => {
      const event = JSON.parse(data as string) as { data: unknown; cursor: string };
      group.push({ name, data: event.data });
      if (event.cursor !== lastEventId || lastEventId === last) return;
      for (const one of group) bookings.book(one.name, one.data);
      group = [];
      last = lastEventId;
      onCursor(lastEventId);
    });
  }
  // After a reconnection the group comes again.
  source.addEventListener("error", () => (group = []));
  return { bookings, close: () => source.close() };
};
