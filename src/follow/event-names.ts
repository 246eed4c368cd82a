import type { FollowEvent, Group } from "./follow.js";

/** Second names of events. A webhook keeps the name it was created with; events are matched by the canonical one. */
const canonicalNames = new Map([["state.started", "state:started"]]);

const secondNames = new Map([...canonicalNames].map(([second, canonical]) => [canonical, second]));

export const canonicalEvent = (name: string): string => canonicalNames.get(name) ?? name;

/** Events that apply or revert a block or transaction. Those that a host declares do not, whatever their names end in. */
export const ledgerEvent = /^(block|transaction|booking)\.(applied|reverted)$/;

/** Whether an event takes back what another has told. */
export const isReversal = (event: string): boolean => event.endsWith(".reverted") && ledgerEvent.test(event);

/** Sent only to readers that name them, as there are several for each transaction. */
export const bookingEvents = ["booking.applied", "booking.reverted"] as const;

export const isBookingEvent = (event: string): boolean => bookingEvents.some((name) => name === event);

/** The events of a group for whoever listens to some of them. Bookings are not even made where nobody asks for them. */
export const eventsFor = (group: Group, listens: (event: string) => boolean): readonly FollowEvent[] =>
  (bookingEvents.some((name) => listens(name)) ? group.eventsWithBookings : group.events);

/** A `*` at the end, alone or after a point. */
export const isNamePattern = (name: string): boolean => name === "*" || name.endsWith(".*");

const fits = (pattern: string, event: string | undefined): boolean =>
  event?.startsWith(pattern.slice(0, -1)) === true && !(pattern === "*" && isBookingEvent(event));

/**
 * Whether an event, by its canonical name, is one that a list of names and patterns means: `block.applied`, `transaction.*` (all that
 * begin so), `*` (all but bookings). A pattern means those, too, whose second name begins so.
 */
export const namesEvent = (names: readonly string[], event: string): boolean =>
  names.some((name) => name === event || (isNamePattern(name) && (fits(name, event) || fits(name, secondNames.get(event)))));

/** Whether a name is one of these, or a pattern that means any of them. */
export const isNameAmong = (name: string, events: readonly string[]): boolean =>
  events.includes(name) || (isNamePattern(name) && events.some((event) => namesEvent([name], event)));
