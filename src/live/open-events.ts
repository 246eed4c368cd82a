import type { FullClock } from "../async/clock.js";
import type { CursorField } from "../follow/cursor.js";
import type { Confirmations } from "../follow/follow.js";
import { Channel, type ChannelNeeds } from "./channel.js";
import { EventStream } from "./event-stream.js";
import type { Selection, SelectionInput } from "./selection.js";

interface OpenEventsNeeds extends ChannelNeeds {
  clock: Pick<FullClock, "monotonic">;
  select(input: SelectionInput, source: "query"): Promise<Selection>;
}

/** Numbers that are no doubles as text, which conditions take for equal. */
const keyOf = (selection: readonly unknown[]): string => JSON.stringify(selection, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** Finds the cursor of an event stream and what begins it. Those that select the same are in one channel. @throws PorticoError BAD_REQUEST, CURSOR_UNKNOWN, NOT_READY */
export const createOpenEvents = ({ clock, select, ...needs }: OpenEventsNeeds) => {
  const channels = new Map<string, Channel>();

  const makeChannel = async (input: SelectionInput, confirmations: Confirmations | undefined): Promise<Channel> => {
    const { filter, hostEvents } = await select(input, "query");
    return new Channel(filter, { confirmations, hostEvents, whole: true }, needs);
  };

  return async (after: string, { confirmations, ...input }: SelectionInput & { confirmations?: Confirmations | undefined }, field?: CursorField): Promise<() => EventStream> => {
    const key = keyOf([input.event, input.conditions, input.match, confirmations]);
    const found = channels.get(key) ?? (await makeChannel(input, confirmations));
    const cursor = await needs.follow.locate(after, { ...found.options, field });
    return () => {
      // Others may have begun meanwhile.
      const channel = channels.get(key) ?? found;
      const stream: EventStream = new EventStream(cursor, {
        channel,
        clock,
        ended: () => {
          if (channel.exit(stream)) channels.delete(key);
        },
      });
      channels.set(key, channel);
      channel.enter();
      return stream;
    };
  };
};
