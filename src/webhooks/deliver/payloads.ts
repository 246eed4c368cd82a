import { LRUCache } from "lru-cache";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Message, WebhookStore } from "../../../types/webhook-store.js";
import { andThen } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import { type Cursor, type Follow, type FollowEvent, parseCursor } from "../../follow/index.js";
import { memberOf } from "../../follow/payload.js";

/** Payloads of events: those of the host are kept with their messages, those of the chain are made from it when they are needed. */
export interface Payloads {
  /** As JSON text; undefined where the block is no longer kept. */
  of(message: Message): MaybePromise<string | undefined>;
  /** A message with its payload, kept for a moment for its other deliveries; undefined where there is none. */
  load(messageId: number): MaybePromise<LoadedEvent | undefined>;
  /** A message was written: most are sent in a moment, and its event is at hand. */
  note(messageId: number, message: Message, event: Pick<FollowEvent, "json">): void;
}

export interface LoadedEvent {
  message: Message;
  /** The payload as JSON text. */
  json: string;
  /** What its last delivery was sent with. */
  made?: { event: string; isLast: boolean; json: string };
}

/** Events that are kept from when their messages are written. */
const mostNoted = 1_000;
/** Groups that are kept: deliveries of a block are sent one after another. */
const mostGroups = 32;
/** Characters of payloads that are kept: the deliveries of a message to many webhooks are sent at about the same time. */
const keptCharacters = 2 ** 22;

const isUnknown = (error: unknown): boolean => error instanceof PorticoError && error.code === "CURSOR_UNKNOWN";

const opposite = (event: string): string => (event.endsWith(".applied") ? event.replace(/applied$/, "reverted") : event.replace(/reverted$/, "applied"));

/** `BLOCK.applied.PLACE` of an event's id, which goes on with how often the block had been applied before. */
const withoutTimes = (eventId: string): string => eventId.split(".", 3).join(".");

/** The events of a group, found by their ids. */
interface Indexed {
  events: readonly FollowEvent[];
  byId: ReadonlyMap<string, FollowEvent>;
}

/** Makes the payload of a message. */
const createMake = (follow: Follow): Payloads["of"] => {
  const groups = new LRUCache<string, Indexed>({ max: mostGroups });

  const cursorOf = (text: string): Cursor => {
    const parsed = parseCursor(text);
    return parsed.kind === "cursor" ? { block: parsed.cursor.block } : { block: undefined };
  };

  /** The group that comes next after a cursor, if it is of that block. */
  const groupAfter = (cursor: string, blockId: string): MaybePromise<Indexed | undefined> => {
    const name = `${cursor} ${blockId}`;
    const known = groups.get(name);
    if (known !== undefined) return known;
    return andThen(follow.after(cursorOf(cursor), { hostEvents: false, limit: 1 }), ({ groups: [group] }) => {
      if (group?.change?.full.block.id !== blockId) return undefined;
      const indexed = { events: group.events, byId: new Map(group.events.map((event) => [withoutTimes(event.id), event])) };
      groups.set(name, indexed);
      return indexed;
    });
  };

  const safely = <T>(read: () => MaybePromise<T | undefined>): MaybePromise<T | undefined> => {
    const none = (error: unknown): undefined => {
      if (!isUnknown(error)) throw error;
    };
    try {
      const found = read();
      return found instanceof Promise ? found.catch(none) : found;
    } catch (error) {
      return none(error);
    }
  };

  /** The block was reverted, or applied again, since: what it was before had the same payload, and so had each of its applications. */
  const find = (group: Indexed | undefined, { eventId, event, about }: Message): string | undefined => {
    const same = eventId === undefined ? undefined : group?.byId.get(withoutTimes(eventId));
    if (same !== undefined || group === undefined || event === undefined) return same?.json;
    const [[subject] = [], other] = [about?.id.split(" ", 1), opposite(event)];
    return group.events.find((one) => one.event === other && memberOf(one.data, "id") === subject)?.json;
  };

  return (message) => {
    const { json, block, before, after } = message;
    if (json !== undefined || block === undefined || before === undefined || after === undefined) return json;
    return andThen(
      safely(() => groupAfter(before, block.id)),
      (first) => {
        const found = find(first, message);
        if (found !== undefined) return found;
        return andThen(
          safely(() => groupAfter(after, block.id)),
          (second) => find(second, message),
        );
      },
    );
  };
};

export const createPayloads = (follow: Follow, store: Pick<WebhookStore, "message">): Payloads => {
  const of = createMake(follow);
  const noted = new LRUCache<number, { message: Message; event: Pick<FollowEvent, "json"> }>({ max: mostNoted });
  const loaded = new LRUCache<number, LoadedEvent>({ maxSize: keptCharacters, sizeCalculation: ({ json }) => 2 * json.length + 500 });

  const keep = (messageId: number, message: Message, json: string): LoadedEvent => {
    const event: LoadedEvent = { message, json };
    loaded.set(messageId, event);
    return event;
  };

  return {
    of,
    note: (messageId, message, event) => void noted.set(messageId, { message, event }),
    load: (messageId) => {
      const known = loaded.get(messageId);
      if (known !== undefined) return known;
      const fresh = noted.get(messageId);
      if (fresh !== undefined) {
        noted.delete(messageId);
        return keep(messageId, fresh.message, fresh.event.json);
      }
      const message = store.message(messageId);
      if (message === undefined) return undefined;
      return andThen(of(message), (json) => (json === undefined ? undefined : keep(messageId, message, json)));
    },
  };
};
