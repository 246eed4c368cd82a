import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Message } from "../../../types/webhook-store.js";
import { andThen } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import { cursorText, type Cursor, type Follow, type FollowEvent, type Group, parseCursor } from "../../follow/index.js";

/** Payloads of events: those of the host are kept with their messages, those of the chain are made from it when they are needed. */
export interface Payloads {
  /** As JSON text; undefined where the block is no longer kept. */
  of(message: Message): MaybePromise<string | undefined>;
}

/** Groups that are kept: deliveries of a block are sent one after another. */
const mostGroups = 32;

const isUnknown = (error: unknown): boolean => error instanceof PorticoError && error.code === "CURSOR_UNKNOWN";

const opposite = (event: string): string => (event.endsWith(".applied") ? event.replace(/applied$/, "reverted") : event.replace(/reverted$/, "applied"));

const idIn = (data: unknown): unknown => (typeof data === "object" && data !== null ? (data as { id?: unknown }).id : undefined);

/** `BLOCK.applied.PLACE` of an event's id, which goes on with how often the block had been applied before. */
const withoutTimes = (eventId: string): string => eventId.split(".", 3).join(".");

export const createPayloads = (follow: Follow): Payloads => {
  const groups = new Map<string, Group>();

  const remember = (name: string, group: Group): void => {
    groups.delete(name);
    groups.set(name, group);
    const [oldest] = groups.keys();
    if (groups.size > mostGroups && oldest !== undefined) groups.delete(oldest);
  };

  /** The group that comes next after a cursor, if it is of that block. */
  const groupAfter = (cursor: Cursor, blockId: string): MaybePromise<Group | undefined> => {
    const name = `${cursorText(cursor)} ${blockId}`;
    const known = groups.get(name);
    if (known !== undefined) return known;
    return andThen(follow.after(cursor, { hostEvents: false, limit: 1 }), ({ groups: [group] }) => {
      if (group?.change?.full.block.id !== blockId) return undefined;
      remember(name, group);
      return group;
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

  const cursorOf = (text: string): Cursor => {
    const parsed = parseCursor(text);
    return parsed.kind === "cursor" ? { block: parsed.cursor.block } : { block: undefined };
  };

  /** The block was reverted, or applied again, since: what it was before had the same payload, and so had each of its applications. */
  const find = (group: Group | undefined, { eventId, event, about }: Message): string | undefined => {
    const [subject] = about?.id.split(" ", 1) ?? [];
    const wanted = eventId === undefined ? undefined : withoutTimes(eventId);
    const isSame = (one: FollowEvent): boolean => withoutTimes(one.id) === wanted || (event !== undefined && one.event === opposite(event) && idIn(one.data) === subject);
    return group?.events.find(isSame)?.json;
  };

  return {
    of: (message) => {
      const { json, block, before, after } = message;
      if (json !== undefined || block === undefined || before === undefined || after === undefined) return json;
      return andThen(
        safely(() => groupAfter(cursorOf(before), block.id)),
        (first) => {
          const found = find(first, message);
          if (found !== undefined) return found;
          return andThen(
            safely(() => groupAfter(cursorOf(after), block.id)),
            (second) => find(second, message),
          );
        },
      );
    },
  };
};
