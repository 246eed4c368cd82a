import type { IncomingMessage } from "node:http";
import { createAskedLately } from "../cache/doorkeeper.js";
import { createBoundedMap } from "../cache/bounded-map.js";
import type { Asked, CompiledRoute, RouteInput } from "./endpoint.js";
import type { Scope } from "../route.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import { type Generation, versionInHeaders } from "../routing/version.js";

/** A request located, checked and parsed, before any state is read. A class, which is cheaper to make for every request. */
export class Plan<State extends Scope> {
  readonly entry: CompiledRoute<State>;
  readonly generation: Generation;
  readonly asked: Asked;
  readonly input: RouteInput;
  /** Version headers of every reply to a request like this. */
  readonly headers: HeaderPairs;
  /** Whether the same URL was requested before, so that its reply is worth keeping. */
  again = false;
  private named: string | undefined;

  constructor(entry: CompiledRoute<State>, generation: Generation, asked: Asked, input: RouteInput, headers: HeaderPairs) {
    this.entry = entry;
    this.generation = generation;
    this.asked = asked;
    this.input = input;
    this.headers = headers;
  }

  /** Identifies everything that was asked: within one state, equal questions have equal answers. */
  get question(): string {
    return (this.named ??= questionOf(this.entry, this.input, this.asked));
  }
}

/**
 * Plans of GET and HEAD requests, by the literal URL and the version in the headers, the only parts of a request that enter a plan.
 * A plan is kept from the second request for its URL on: keeping plans that are used once costs more than making them.
 */
export interface PlanMemory<State extends Scope> {
  /** The request must be one of those. */
  recall(request: IncomingMessage): Plan<State> | undefined;
  /** Does nothing for others. */
  remember(request: IncomingMessage, plan: Plan<State>): void;
}

const freeze = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
};

export const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/** Bytes that a plan takes besides its URL, which it holds about four times over. */
const overhead = 1500;

/** Number of recent URLs among which repeats are recognized: somewhat more than the replies in a cache of the default size. */
const lookedBackUpon = 65_536;

export const createPlanMemory = <State extends Scope>(bytes: number): PlanMemory<State> => {
  // one map for each version that headers may name, and one for none, so that the URL alone is the key
  const plans = [0, 1, 2].map(() => createBoundedMap<Plan<State>>(bytes / 3));
  const lately = createAskedLately(lookedBackUpon);
  return {
    recall: (request) => plans[versionInHeaders(request.headers)]?.get(request.url ?? ""),
    remember: (request, plan) => {
      const url = request.url ?? "";
      if (isRead(request) && plan.entry.route.authenticated !== true && lately.before(url)) {
        plan.again = true;
        freeze(plan.input);
        plans[versionInHeaders(request.headers)]?.set(url, plan, 8 * url.length + overhead);
      }
    },
  };
};

/** Text of a parsed query; a bigint and an equal number give different texts. */
const queryText = (query: unknown): string =>
  JSON.stringify(query, (_, value: unknown) => (typeof value === "bigint" ? { bigint: String(value) } : value));

/**
 * Identifies the route and its whole parsed input. The links of a list repeat the caller's parameters as written, so for lists their
 * text is used instead of the parsed values.
 */
const questionOf = <State extends Scope>({ route }: CompiledRoute<State>, input: RouteInput, asked: Asked): string => {
  const parsed = route.kind === "list" ? JSON.stringify(asked.pairs) : input.query === undefined ? "" : queryText(input.query);
  return `${route.versions.join()} ${route.path} ${JSON.stringify(asked.params)} ${parsed}`;
};
