import { changeAmounts, eventAmounts } from "./operations.js";
import type { BookingEvent, Change, EventFeed, EventName, EventSelector, FollowedEvent, GetEventsFeedQuery } from "./schemas.js";
import {
  type Asked,
  delayOf,
  isTransient,
  lose,
  pause,
  PorticoClientError,
  readJson,
  type Transport,
  TransportError,
  type Walk,
} from "./transport.js";
import { parseJson, queryOf, withAmounts } from "./values.js";

/** Following a chain: its events, or whole blocks, whatever becomes of connections and nodes. */

/** The events that names and patterns mean. */
export type Selected<Selector> = Selector extends "*"
  ? Exclude<EventName, BookingEvent>
  : Selector extends `${infer Prefix}*`
    ? Extract<EventName, `${Prefix}${string}`>
    : Extract<Selector, EventName>;

interface Unknown {
  oldest: { height: number; id: string } | undefined;
  tip: { height: number; id: string } | undefined;
}

export interface FollowOptions<Selector extends EventSelector = EventSelector> {
  /** Where to continue: after a cursor, `genesis`, `tip` or a height. */
  after: string | number;
  /** Names and patterns. @default ["*"] (all but bookings) */
  events?: readonly Selector[] | undefined;
  /** Conditions on the data of events. @default none */
  conditions?: GetEventsFeedQuery["conditions"];
  /** Whether any condition must hold, or all. @default "any" */
  match?: GetEventsFeedQuery["match"];
  /** Blocks by which to stay behind the tip; `final`: as many as the node's option `finality`. @default 0 */
  confirmations?: GetEventsFeedQuery["confirmations"];
  /** Ends it: `follow` resolves. @default none */
  signal?: AbortSignal | undefined;
  /** Gets each event, and is awaited. `follow` rejects with what it throws. */
  onEvent: (event: FollowedEvent<Selected<Selector>>) => unknown;
  /** Gets the cursor after each block whose events were handled, and is awaited. Pass it as `after` the next time. @default none */
  save?: ((cursor: string) => unknown) | undefined;
  /** Called if no node knows the cursor. Returns where to continue. @default none: `follow` rejects */
  onUnknown?: ((unknown: Unknown) => string | Promise<string>) | undefined;
}

export interface ChangesOptions {
  /** Where to continue: after a cursor, `genesis`, `tip` or a height. @default "genesis" */
  after?: string | number | undefined;
  /** Ends the iteration. @default none */
  signal?: AbortSignal | undefined;
}

export const withEventAmounts = <Event extends { event: string; data: unknown }>(event: Event): Event => {
  withAmounts(event.data, eventAmounts[event.event]);
  return event;
};

/** The text of a stream, line by line. What stands after the last line's end was cut off. */
async function* linesIn(text: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") throw new TransportError("The last line was cut off.");
}

const parsePart = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new TransportError("The reply is not JSON.", { cause });
  }
};

/** Lines of JSON as they come. */
export async function* linesOf(text: AsyncIterable<string>, amounts: string): AsyncGenerator<unknown, void> {
  for await (const line of linesIn(text)) if (line !== "") yield withAmounts(parsePart(line), amounts);
}

/** What is handed on as a whole: the events of a block, and the cursor after them. */
interface Group {
  events: FollowedEvent[];
  cursor: string;
}

/** Only the last event of a group has an id: what comes before a lost connection without it comes again. */
async function* groupsIn(text: AsyncIterable<string>): AsyncGenerator<Group, void> {
  let events: FollowedEvent[] = [];
  let [data, cursor] = ["", undefined as string | undefined];
  for await (const raw of linesIn(text)) {
    const line = raw.replace(/\r$/, "");
    const colon = line.indexOf(":");
    const [field, value] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1).replace(/^ /, "")];
    if (field === "data") data += value;
    if (field === "id") cursor = value;
    if (line !== "") continue;
    if (data !== "") events.push(withEventAmounts(parsePart(data) as FollowedEvent));
    if (cursor !== undefined) {
      yield { events, cursor };
      events = [];
    }
    [data, cursor] = ["", undefined];
  }
}

type Selection = Omit<GetEventsFeedQuery, "after" | "limit" | "wait">;

/** Characters of a query, at the most: proxies refuse longer URLs. */
const longestQuery = 3_000;
const longPoll = 20;

const feedRequest = (selection: Selection, more: object): Asked => {
  const query = queryOf({ ...selection, ...more });
  const path = "/v2/events/feed";
  return query.length > longestQuery ? { method: "POST", path, body: { ...selection, ...more } } : { method: "GET", path: path + query };
};

const readFeed = async (response: Response): Promise<EventFeed> => (await readJson(response)) as EventFeed;

interface Source {
  transport: Transport;
  walk: Walk;
  signal: AbortSignal | undefined;
}

/** Of `tip` and of a height, the cursor that is meant now; undefined for any other. So nothing is lost where the first stream breaks. */
const cursorNamed = async (after: string, selection: Selection, { transport, walk, signal }: Source): Promise<string | undefined> => {
  if (/^\d+$/.test(after)) {
    const block = await transport.ask({ method: "GET", path: `/v2/blocks/${after}`, signal, walk }, readJson);
    return `${after}-${(block as { data: { id: string } }).data.id}`;
  }
  if (after !== "tip") return undefined;
  const { confirmations, event } = selection;
  const { meta } = await transport.ask({ ...feedRequest({ confirmations, event }, { after, limit: 1 }), signal, walk }, readFeed);
  return meta.cursor;
};

/** Groups after a cursor: streamed, or, for conditions that no URL can have, asked for one page after the other. */
async function* groupsAfter(cursor: string, selection: Selection, source: Source): AsyncGenerator<Group, void> {
  const { transport, walk, signal } = source;
  const named = await cursorNamed(cursor, selection, source);
  if (named !== undefined) yield { events: [], cursor: named };
  let after = named ?? cursor;
  const query = queryOf({ ...selection, after });
  if (query.length <= longestQuery) {
    yield* groupsIn(transport.open({ method: "GET", path: `/v2/events${query}`, headers: { accept: "text/event-stream" }, signal, walk }));
    return;
  }
  for (;;) {
    const asked = feedRequest(selection, { after, limit: 1000, wait: longPoll });
    const { data, meta } = await transport.ask({ ...asked, waits: longPoll * 1000, signal, walk }, readFeed);
    after = meta.cursor;
    yield { events: data.map(withEventAmounts), cursor: after };
  }
}

/** A whole block; none where only the cursor has become another. */
interface Line {
  change?: Change;
  cursor: string;
}

async function* linesAfter(cursor: string, source: Source): AsyncGenerator<Line, void> {
  const { transport, walk, signal } = source;
  const named = await cursorNamed(cursor, { event: ["block.*"] }, source);
  if (named !== undefined) yield { cursor: named };
  const path = `/v2/changes${queryOf({ after: named ?? cursor, follow: true })}`;
  const text = transport.open({ method: "GET", path, headers: { accept: "application/x-ndjson" }, signal, walk });
  for await (const change of linesOf(text, changeAmounts) as AsyncGenerator<Change>) yield { change, cursor: change.cursor };
}

/** The height that a cursor names; 0 for `genesis`. */
const heightOf = (cursor: string): number => Number(/^\d+/.exec(cursor)?.[0] ?? 0);

/** Parts with cursors, from one connection after the other. */
async function* readOn<Part extends { cursor: string }>(
  start: string,
  open: (cursor: string) => AsyncGenerator<Part, void>,
  { transport, walk, signal, onUnknown }: Source & Pick<FollowOptions, "onUnknown">,
): AsyncGenerator<Part, void> {
  let [cursor, failures, unknown] = [start, 0, 0];
  const isAborted = (): boolean => signal?.aborted === true;
  while (!isAborted()) {
    let delay = delayOf(failures++, {});
    try {
      for await (const part of open(cursor)) {
        [cursor, failures, unknown] = [part.cursor, 0, 0];
        yield part;
      }
    } catch (error) {
      if (isAborted()) return;
      const isUnknown = error instanceof PorticoClientError && error.code === "CURSOR_UNKNOWN";
      if (isTransient(error)) delay = delayOf(failures, error);
      else if (!isUnknown) throw error;
      // A node that is behind gets there; of several, another may know the cursor.
      else if (heightOf(cursor) <= (error.tip?.height ?? 0) && ++unknown >= transport.size) {
        if (onUnknown === undefined) throw error;
        [cursor, unknown] = [await onUnknown({ oldest: error.oldest, tip: error.tip }), 0];
      }
    }
    lose(walk);
    await pause(delay, signal);
  }
}

const sourceOf = (transport: Transport, signal: AbortSignal | undefined): Source => ({ transport, walk: { isPinned: false }, signal });

export const createFollow =
  (transport: Transport) =>
  async <const Selector extends EventSelector = "*">(options: FollowOptions<Selector>): Promise<void> => {
    const { after, events: event, signal, onEvent, save, onUnknown, ...selected } = options;
    const [selection, source] = [{ ...selected, event } as Selection, sourceOf(transport, signal)];
    const isAborted = (): boolean => signal?.aborted === true;
    let saved = String(after);
    for await (const { events, cursor } of readOn(saved, (cursor) => groupsAfter(cursor, selection, source), { ...source, onUnknown })) {
      for (const each of events) {
        if (isAborted()) return;
        await onEvent(each as FollowedEvent<Selected<Selector>>);
      }
      if (cursor !== saved) await save?.(cursor);
      saved = cursor;
      if (isAborted()) return;
    }
  };

export const createChanges = (transport: Transport) =>
  async function* ({ after = "genesis", signal }: ChangesOptions = {}): AsyncGenerator<Change, void> {
    const source = sourceOf(transport, signal);
    for await (const { change } of readOn(String(after), (cursor) => linesAfter(cursor, source), source)) {
      if (change !== undefined) yield change;
    }
  };
