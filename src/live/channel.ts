import { setImmediate as nextTurn } from "node:timers/promises";
import { loopShare } from "../async/loop-share.js";
import type { After } from "../async/clock.js";
import { PorticoError } from "../errors.js";
import { type Cursor, cursorText } from "../follow/cursor.js";
import type { Batch, Follow, FollowEvent, Group, ReadOptions } from "../follow/follow.js";
import { type Filter, pick } from "./selection.js";

/** A stream that has been told everything, and waits in its channel. */
export interface Member {
  readonly cursor: Cursor;
  /** Takes what comes after its cursor. It has left the channel, and joins again for more. */
  told(cursor: Cursor, bytes: IteratorYieldResult<Buffer>): void;
  /** Has been told nothing. It has left the channel: at a cursor up to which there was nothing for it, or to read for itself. */
  woken(at: Cursor | undefined): void;
  /** Nothing more can be read. It has left the channel. */
  failed(error: unknown): void;
  /** Whether it has been sent nothing for half a heartbeat. */
  isIdle(): boolean;
}

export interface ChannelNeeds {
  follow: Follow;
  /** Milliseconds after which something is sent in any case. */
  heartbeat: number;
  after: After;
}

/** Streams that are served between two looks at the clock. */
const servedTogether = 32;
/** Milliseconds for which one event that goes to many streams holds the event loop. */
const longestHold = 5;

/** Undefined while the store is being rebuilt, or closed. @throws PorticoError CURSOR_UNKNOWN */
export const readOn = async (follow: Follow, cursor: Cursor, options: ReadOptions & { limit?: number }): Promise<Batch | undefined> => {
  try {
    return await loopShare.run(() => follow.after(cursor, options));
  } catch (error) {
    if (error instanceof PorticoError && error.code === "NOT_READY") return undefined;
    throw error;
  }
};

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

/**
 * A group as server-sent events. Only the last of them moves the client's `Last-Event-ID`: one that leaves within a group gets it again.
 */
const messagesOf = async (group: Group, filter: Filter): Promise<Buffer | undefined> => {
  const picked = await pick(group, filter);
  if (picked.length === 0) return undefined;
  return loopShare.run(() => {
    const [before, after] = [cursorText(group.before), cursorText(group.after)];
    const last = picked.length - 1;
    const messages = picked.map((event, place) =>
      place === last
        ? `event: ${event.event}\ndata: ${eventJson(event, after)}\nid: ${after}\n\n`
        : `event: ${event.event}\ndata: ${eventJson(event, before)}\n\n`,
    );
    return Buffer.from(messages.join(""));
  });
};

/** After what was written before has been handed to the connections: Node.js does so in its next tick. */
const written = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/**
 * The event streams with one selection. What comes next is read, picked and written as bytes once for all of them that are at the tip; one
 * that is further back, or too slow to be there, reads for itself until it has caught up.
 */
export class Channel {
  readonly filter: Filter;
  readonly options: ReadOptions;
  readonly needs: ChannelNeeds;
  /** How often there may have been something new. */
  signals = 0;
  /** Where those stand that wait in `waiting`; undefined until the first of them comes. */
  private cursor: Cursor | undefined;
  private readonly waiting = new Set<Member>();
  /** Those that were at their end elsewhere: behind or before what is being told. */
  private readonly strays = new Set<Member>();
  private isReading = false;
  private streams = 0;
  private leave = (): void => undefined;

  constructor(filter: Filter, options: ReadOptions, needs: ChannelNeeds) {
    this.filter = filter;
    this.options = options;
    this.needs = needs;
  }

  /** Counts a stream. */
  enter(): void {
    this.streams += 1;
    if (this.streams > 1) return;
    const { follow, after, heartbeat } = this.needs;
    const unwatch = follow.watch(() => this.signal());
    const beat = (): (() => void) => after(heartbeat / 2, () => ((cancel = beat()), this.beat()));
    let cancel = beat();
    this.leave = () => {
      unwatch();
      cancel();
    };
  }

  /** Whether the stream that has ended was the last. */
  exit(member: Member): boolean {
    this.waiting.delete(member);
    this.strays.delete(member);
    this.streams -= 1;
    if (this.streams > 0) return false;
    this.leave();
    this.cursor = undefined;
    return true;
  }

  /**
   * Waits for what comes after a member's cursor. It has read everything there was at a count of `signals`; undefined: it has not looked.
   */
  join(member: Member, signals: number | undefined): void {
    const isFirst = this.cursor === undefined;
    this.cursor ??= member.cursor;
    if (this.cursor === member.cursor || cursorText(this.cursor) === cursorText(member.cursor)) {
      this.waiting.add(member);
      if (isFirst && signals !== this.signals) this.read();
    } else if (signals === this.signals || this.isReading) {
      this.strays.add(member);
    } else {
      member.woken(undefined);
    }
  }

  bytesOf(group: Group): Promise<Buffer | undefined> {
    return messagesOf(group, this.filter);
  }

  private signal(): void {
    this.signals += 1;
    this.read();
  }

  private read(): void {
    if (this.isReading || this.cursor === undefined) return;
    this.isReading = true;
    void this.readOn().finally(() => {
      this.isReading = false;
      for (const member of this.taken("strays")) member.woken(undefined);
    });
  }

  /** Reads until there is nothing more. */
  private async readOn(): Promise<void> {
    try {
      for (let seen = -1; seen !== this.signals;) {
        seen = this.signals;
        for (let atEnd = false; !atEnd && this.cursor !== undefined;) {
          const batch: Batch | undefined = await readOn(this.needs.follow, this.cursor, this.options);
          for (const group of batch?.groups ?? []) await this.tell(group);
          atEnd = batch?.atEnd ?? true;
          if (!atEnd) await nextTurn();
        }
      }
    } catch (error) {
      this.cursor = undefined;
      for (const member of this.taken("waiting")) member.failed(error);
    }
  }

  private async tell(group: Group): Promise<void> {
    const bytes = await this.bytesOf(group);
    // Those that wait have seen the group, even if it has nothing for them.
    this.cursor = group.after;
    if (bytes === undefined) return;
    const yielded = { done: false, value: bytes } as const;
    await this.serve(this.taken("waiting"), (member) => member.told(group.after, yielded));
  }

  private taken(which: "waiting" | "strays"): Member[] {
    const members = [...this[which]];
    this[which].clear();
    return members;
  }

  /** Does something for each, and lets others have their turn in between. */
  private async serve(members: readonly Member[], work: (member: Member) => void): Promise<void> {
    let begun = performance.now();
    for (let index = 0; index < members.length; index += servedTogether) {
      members.slice(index, index + servedTogether).forEach(work);
      await written();
      if (performance.now() - begun < longestHold) continue;
      await nextTurn();
      begun = performance.now();
    }
  }

  /** Wakes those that have to send something. */
  private beat(): void {
    const at = this.cursor;
    const [waiting, strays] = [this.idle("waiting"), this.idle("strays")];
    void this.serve(waiting, (member) => member.woken(at)).then(() => this.serve(strays, (member) => member.woken(undefined)));
  }

  private idle(which: "waiting" | "strays"): Member[] {
    const idle = [...this[which]].filter((member) => member.isIdle());
    idle.forEach((member) => this[which].delete(member));
    return idle;
  }
}
