import { type Cursor, cursorText } from "../follow/cursor.js";
import type { FollowEvent } from "../follow/event.js";

/** All of an event's JSON but its cursor, which depends on the reader: made once for all of them. */
const parts = new WeakMap<FollowEvent, readonly [begin: string, end: string]>();

const partsOf = (event: FollowEvent): readonly [string, string] => {
  const known = parts.get(event);
  if (known !== undefined) return known;
  const begin = `{"id":${JSON.stringify(event.id)},"event":${JSON.stringify(event.event)},"timestamp":${event.at},"data":${event.json},"cursor":`;
  const made = [begin, `,"block":${JSON.stringify(event.block)}}`] as const;
  parts.set(event, made);
  return made;
};

/** An event as every reader gets it, as JSON text. */
export const eventJson = (event: FollowEvent, cursor: string): string => {
  const [begin, end] = partsOf(event);
  return `${begin}${JSON.stringify(cursor)}${end}`;
};

/** An event as a JSON value, whose payload is parsed when it is written: there may be a thousand large ones. A class, as each would have a function of its own. */
export class EventValue {
  readonly id: string;
  readonly event: string;
  readonly timestamp: number;
  readonly cursor: string;
  readonly block: FollowEvent["block"];
  readonly #event: FollowEvent;

  constructor(event: FollowEvent, cursor: Cursor) {
    this.id = event.id;
    this.event = event.event;
    this.timestamp = event.at;
    this.cursor = cursorText(cursor);
    this.block = event.block;
    this.#event = event;
  }

  get data(): unknown {
    return this.#event.data;
  }
}
