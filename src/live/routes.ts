import type { IncomingHttpHeaders } from "node:http";
import { type TArray, type TObject, Type } from "@sinclair/typebox";
import { derivedEvents } from "../follow/derive.js";
import { type FullClock, systemAfter } from "../async/clock.js";
import { PorticoError } from "../errors.js";
import type { Follow } from "../follow/follow.js";
import { AsJson, Flag, type InputKind, InputOf, ListOf, OneOf, Text, WholeNumber } from "../http/input/schema.js";
import { describedKeyword } from "../http/json-schema.js";
import { type Route, routesOf, type Scope } from "../http/route.js";
import { changeStream } from "./change-stream.js";
import { createOpenEvents } from "./event-stream.js";
import { createConditionBudget, type FeedNeeds, readFeed } from "./feed.js";
import { ConfirmationsInput, createSelect, type Filters } from "./selection.js";

interface LiveNeeds {
  follow: Follow;
  /** The same for the feed, whose requests wait for all that they ask. */
  feed: Follow;
  filters: Filters;
  /** Schema of a list of conditions, as webhooks have them. */
  conditions: TArray;
  /** Names of all events that there may be. */
  eventNames: readonly string[];
  /** For the docs: `event` and `data` of each. */
  events: readonly TObject[];
  /** Whether events of blocks and transactions come from the chain; if not, all are the host's. */
  offersChanges: boolean;
  /** Of a replica: URL of the node that it follows. */
  node: string | undefined;
  /** Aborted when the node stops. */
  stopping(): AbortSignal;
  clock: Pick<FullClock, "monotonic">;
}

const longestAfter = 8_192;

const afterKind: InputKind<string> = {
  parse: (value) => {
    const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
    return typeof text === "string" && text !== "" && text.length <= longestAfter
      ? { value: text }
      : { rule: `must be a string of 1 to ${longestAfter} characters, or a height` };
  },
  accepts: {
    anyOf: [
      { type: "string", minLength: 1, maxLength: longestAfter },
      { type: "integer", minimum: 0 },
    ],
  },
};

const After = (preset: "tip" | "genesis") =>
  InputOf(afterKind, {
    default: preset,
    description:
      "Where to continue: after a cursor, `genesis` (the beginning), `tip` (the last block) or a height. Of up to 32 cursors, separated by commas, the first one counts that this node knows.",
  });

const selectionOf = ({ conditions }: LiveNeeds) => ({
  event: Type.Optional(
    ListOf(Text({ minLength: 1, maxLength: 200 }), {
      asText: true,
      minItems: 1,
      maxItems: 100,
      description: "Names of events, and patterns such as `block.*`. Default: all.",
    }),
  ),
  after: Type.Optional(After("tip")),
  confirmations: Type.Optional(ConfirmationsInput),
  conditions: Type.Optional(AsJson(conditions, { description: "Conditions on the payload, as those of a webhook; in a query as JSON." })),
  match: Type.Optional(OneOf(["any", "all"], { description: "Whether one of the conditions must hold (the default), or all." })),
});

const feedOf = (needs: LiveNeeds) => ({
  ...selectionOf(needs),
  limit: Type.Optional(
    WholeNumber({ minimum: 1, maximum: 1000, default: 100, description: "Events, at most. The events of the last block are sent even beyond that." }),
  ),
  wait: Type.Optional(WholeNumber({ minimum: 0, maximum: 60, default: 0, description: "Seconds to wait for events, if there are none." })),
});

const eventMembers = {
  id: Type.String({ description: "The same whenever and wherever the event is read." }),
  event: Type.String(),
  timestamp: Type.Integer({ description: "Milliseconds since 1970." }),
  data: Type.Unknown({ description: "As in the deliveries of webhooks." }),
  cursor: Type.String({ description: "Where to go on after the event." }),
  block: Type.Unsafe<{ height: number; id: string } | null>({
    anyOf: [
      { type: "object", properties: { height: { type: "integer" }, id: { type: "string" } }, required: ["height", "id"] },
      { type: "null" },
    ],
    description: "Null for events of the host.",
  }),
};

const feedReply = ({ events }: LiveNeeds) => {
  const described = {
    anyOf: events.map(({ properties, title }) => Type.Object({ ...eventMembers, ...properties }, { title: String(title) })),
    discriminator: { propertyName: "event" },
  };
  const event = Type.Object(eventMembers, { title: "FollowedEvent", [describedKeyword]: described });
  const meta = Type.Object({ cursor: Type.String(), tip: Type.String(), more: Type.Boolean() });
  return Type.Object({ data: Type.Array(event), meta }, { title: "Feed" });
};

/** Milliseconds after which a stream sends something in any case: it is promised every 15 s. */
const heartbeat = 14_000;

const live = { versions: [2], resource: "events", stateless: true, cache: "never", errors: [410, 501] } as const;

type Select = ReturnType<typeof createSelect>;

const lastSeen = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers["last-event-id"];
  return typeof header === "string" && header !== "" ? header : undefined;
};

const eventsRoute = <State extends Scope>(needs: LiveNeeds, select: Select): Route<State> => {
  const { follow, clock } = needs;
  const openEvents = createOpenEvents({ follow, clock, heartbeat, after: systemAfter, select });
  return routesOf<State>().body({
    ...live,
    method: "GET",
    path: "/events",
    summary: "Streams server-sent events: first those after a cursor, then new ones as they happen.",
    query: Type.Object(selectionOf(needs)),
    headers: Type.Object({
      "Last-Event-ID": Type.Optional(
        Text({ description: "The cursor of the last event, as an `EventSource` sends it. Takes precedence over `after`." }),
      ),
    }),
    content: { "text/event-stream": Type.String() },
    answer: async ({ query: { after = "tip", ...selected }, headers }) => {
      const seen = lastSeen(headers);
      const stream = await openEvents(
        seen ?? after,
        selected,
        seen === undefined ? undefined : { source: "headers", key: "Last-Event-ID" },
      );
      return { contentType: "text/event-stream; charset=utf-8", endless: true, stream };
    },
  });
};

interface FeedInput {
  event?: string[];
  after?: string;
  confirmations?: number | "final";
  conditions?: unknown[];
  match?: "any" | "all";
  limit?: number;
  wait?: number;
}

const feedRoutes = <State extends Scope>(needs: LiveNeeds, select: Select): Route<State>[] => {
  const { feed: follow, stopping } = needs;
  const feed = Type.Object(feedOf(needs));
  const { item } = routesOf<State>();

  const budget = createConditionBudget();

  const answerFeed = async (
    { after = "tip", confirmations, limit = 100, wait = 0, ...selected }: FeedInput,
    source: "query" | "payload",
    request: Pick<FeedNeeds, "clientGone" | "waited">,
  ) => {
    let release = (): void => undefined;
    try {
      const { filter, hostEvents } = await select(selected, source, (length) => (release = budget.hold(length)));
      const options = { confirmations, hostEvents, whole: true };
      const page = await readFeed(
        await follow.locate(after, { ...options, field: { source, key: "after" } }),
        filter,
        { ...options, limit, wait },
        { ...request, follow, stopping: stopping() },
      );
      return page as unknown as ReturnType<typeof feedReply>["static"];
    } finally {
      release();
    }
  };

  const route = { ...live, waits: true, largeRows: true, path: "/events/feed", reply: feedReply(needs) } as const;
  return [
    item({
      ...route,
      method: "GET",
      summary: "Returns the events after a cursor; with `wait`, waits for new ones.",
      query: feed,
      answer: ({ query, left: clientGone, waited }) => answerFeed(query, "query", { clientGone, waited }),
    }),
    item({
      ...route,
      method: "POST",
      operation: "postEventsFeed",
      summary: "Returns the events after a cursor, for conditions too long for a URL.",
      body: feed,
      bodyOptional: true,
      bodyLimit: 8_388_608,
      answer: ({ body: input, left: clientGone, waited }) => answerFeed(input, "payload", { clientGone, waited }),
    }),
  ];
};

const noChanges = (): PorticoError =>
  new PorticoError("NOT_SUPPORTED", "This node's chain offers no changes, which replicas need. Its only events are those that its host emits.");

const changesRoute = <State extends Scope>({ follow, offersChanges, clock }: LiveNeeds): Route<State> =>
  routesOf<State>().body({
    ...live,
    method: "GET",
    path: "/changes",
    summary: "Streams whole blocks, applied and reverted, one JSON line each, for replicas.",
    query: Type.Object({
      after: Type.Optional(After("genesis")),
      limit: Type.Optional(WholeNumber({ minimum: 1, description: "Lines, at most." })),
      follow: Type.Optional(Flag({ description: "Whether the connection stays open at the tip. Default false." })),
      times: Type.Optional(
        Flag({
          description:
            "Whether lines also have `timestamp` (when this node applied or reverted the block) and `times` (how often it had applied it before). Replicas need both for their events. Default false.",
        }),
      ),
    }),
    content: { "application/x-ndjson": Type.String() },
    answer: async ({ query: { after = "genesis", limit = Infinity, follow: endless = false, times: timed = false } }) => {
      if (!offersChanges) throw noChanges();
      const cursor = await follow.locate(after, { hostEvents: false });
      return {
        contentType: "application/x-ndjson",
        headers: ["Cache-Control", "no-cache", "X-Accel-Buffering", "no"],
        endless,
        stream: (signal) => changeStream(cursor, { limit, endless, timed }, { follow, heartbeat, clock, after: systemAfter, signal }),
      };
    },
  });

/** The event stream, the feed and the stream of changes. */
export const liveRoutes = <State extends Scope>(needs: LiveNeeds): Route<State>[] => {
  const select = createSelect({
    filters: needs.filters,
    eventNames: needs.eventNames,
    chainEvents: needs.offersChanges ? derivedEvents : [],
    node: needs.node,
  });
  return [eventsRoute(needs, select), ...feedRoutes<State>(needs, select), changesRoute(needs)];
};
