import { EventSource } from "eventsource";
import { createBookings } from "./bookings.js";

const names = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

/** Keeps every wallet's balance by following a node from genesis on, through reorganisations. */
export const followLedger = (api: string, onCursor: (cursor: string) => void) => {
  const bookings = createBookings();
  /** Events of a group that has not come to its end: only as a whole may they change the ledger. */
  let group: { name: string; data: unknown }[] = [];
  let last = "genesis";
  let again: NodeJS.Timeout | undefined;

  const open = (): EventSource => {
    const opened = new EventSource(`${api}/events?after=${last}&event=${names.join()}`);
    for (const name of names) {
      opened.addEventListener(name, ({ data, lastEventId }) => {
        const event = JSON.parse(data as string) as { data: unknown; cursor: string };
        group.push({ name, data: event.data });
        if (event.cursor !== lastEventId || lastEventId === last) return;
        for (const one of group) bookings.book(one.name, one.data);
        group = [];
        last = lastEventId;
        onCursor(lastEventId);
      });
    }
    opened.addEventListener("error", () => {
      // After a reconnection the group comes again.
      group = [];
      // It reconnects by itself, but gives up at any status but 200: at 503, say, of a node that is just starting.
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(() => (source = open()), 1_000);
    });
    return opened;
  };

  let source = open();
  return {
    bookings,
    close: () => {
      clearTimeout(again);
      source.close();
    },
  };
};
