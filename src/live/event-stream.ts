import { setImmediate as nextTurn } from "node:timers/promises";
import type { FullClock } from "../async/clock.js";
import { type Cursor, type CursorField, cursorText } from "../follow/cursor.js";
import type { Batch, Confirmations, Group } from "../follow/follow.js";
import { Channel, type ChannelNeeds, type Member, readOn } from "./channel.js";
import type { Selection, SelectionInput } from "./selection.js";

type Result = IteratorResult<Buffer, undefined>;

interface EventStreamNeeds {
  channel: Channel;
  clock: Pick<FullClock, "monotonic">;
  /** Called once, when it has ended. */
  ended(): void;
}

const over: Result = { done: true, value: undefined };
const comment = Buffer.from(":\n\n");

/**
 * Server-sent events of what comes after a cursor, without an end. There may be many: each is an object and a promise, and what it sends
 * is made by its channel.
 */
export class EventStream implements AsyncIterableIterator<Buffer>, Member {
  cursor: Cursor;
  private readonly needs: EventStreamNeeds;
  /** The cursor that the client knows. */
  private known: Cursor | undefined;
  private sentAt: number;
  /** Groups that it has read for itself, and not sent. */
  private ahead: Group[] = [];
  /** Whether the groups read so far are all there were; and at which count of the channel's signals. */
  private isAtEnd = false;
  private seen: number | undefined;
  private pending: { resolve(result: Result | Promise<Result>): void; reject(error: unknown): void } | undefined;
  private isOver = false;

  constructor(from: Cursor, needs: EventStreamNeeds) {
    this.cursor = from;
    this.needs = needs;
    this.sentAt = needs.clock.monotonic();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.isOver) return Promise.resolve(over);
    // A client that leaves before the first event knows where to go on.
    if (this.known === undefined) return Promise.resolve(this.beat());
    return this.isAtEnd && this.ahead.length === 0 && !this.isIdle() ? this.wait() : this.read();
  }

  return(): Promise<Result> {
    if (!this.isOver) {
      this.isOver = true;
      this.pending?.resolve(over);
      this.needs.ended();
    }
    return Promise.resolve(over);
  }

  isIdle(): boolean {
    return this.needs.clock.monotonic() - this.sentAt >= this.needs.channel.needs.heartbeat / 2;
  }

  told(cursor: Cursor, bytes: IteratorYieldResult<Buffer>): void {
    this.cursor = this.known = cursor;
    this.sentAt = this.needs.clock.monotonic();
    this.pending?.resolve(bytes);
  }

  woken(at: Cursor | undefined): void {
    if (at === undefined) this.isAtEnd = false;
    else this.cursor = at;
    this.pending?.resolve(this.read());
  }

  failed(error: unknown): void {
    this.pending?.reject(error);
  }

  private wait(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
      const { seen } = this;
      this.seen = undefined;
      this.needs.channel.join(this, seen);
    });
  }

  /** Reads until there is something to send, or nothing more to read. */
  private async read(): Promise<Result> {
    const { channel } = this.needs;
    while (!this.isEnded()) {
      if (this.isIdle()) return this.beat();
      const group = this.ahead.shift();
      if (group !== undefined) {
        const bytes = await channel.bytesOf(group);
        this.cursor = group.after;
        if (bytes !== undefined) return this.sent(bytes);
      } else if (this.isAtEnd) {
        return this.wait();
      } else {
        this.seen = channel.signals;
        const batch: Batch | undefined = await readOn(channel.needs.follow, this.cursor, channel.options);
        this.ahead = [...(batch?.groups ?? [])];
        this.isAtEnd = batch?.atEnd ?? true;
        if (!this.isAtEnd) await nextTurn();
      }
    }
    return over;
  }

  /** A method, since it changes while something is awaited. */
  private isEnded(): boolean {
    return this.isOver;
  }

  private sent(value: Buffer): Result {
    this.known = this.cursor;
    this.sentAt = this.needs.clock.monotonic();
    return { done: false, value };
  }

  /** What is sent where there is nothing to tell. */
  private beat(): Result {
    const text = cursorText(this.cursor);
    const isKnown = this.known !== undefined && cursorText(this.known) === text;
    return this.sent(isKnown ? comment : Buffer.from(`id: ${text}\n\n`));
  }
}

interface OpenEventsNeeds extends ChannelNeeds {
  clock: Pick<FullClock, "monotonic">;
  select(input: SelectionInput, source: "query"): Promise<Selection>;
}

/** Numbers that are no doubles as text, which conditions take for equal. */
const keyOf = (selection: readonly unknown[]): string =>
  JSON.stringify(selection, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/**
 * Finds the cursor of an event stream and what begins it. Those that select the same are in one channel. @throws PorticoError
 * BAD_REQUEST, CURSOR_UNKNOWN, NOT_READY
 */
export const createOpenEvents = ({ clock, select, ...needs }: OpenEventsNeeds) => {
  const channels = new Map<string, Channel>();

  const makeChannel = async (input: SelectionInput, confirmations: Confirmations | undefined): Promise<Channel> => {
    const { filter, hostEvents } = await select(input, "query");
    return new Channel(filter, { confirmations, hostEvents, whole: true }, needs);
  };

  return async (
    after: string,
    { confirmations, ...input }: SelectionInput & { confirmations?: Confirmations | undefined },
    field?: CursorField,
  ): Promise<() => EventStream> => {
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
