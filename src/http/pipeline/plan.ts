import type { IncomingMessage } from "node:http";
import { createAskedLately } from "../cache/doorkeeper.js";
import { createBoundedMap } from "../cache/bounded-map.js";
import type { Asked, CompiledRoute, RouteInput } from "./endpoint.js";
import type { Scope } from "../route.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import { formInHeaders } from "../routing/amounts.js";
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
 * Plans of GET and HEAD requests, by the literal URL and the version and form of amounts in the headers, the only parts of a request that enter a plan.
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

/** The URL, after the form of amounts if headers name one. No URL has a space. */
const keyOf = ({ url = "", headers }: IncomingMessage): string => {
  const form = formInHeaders(headers);
  return form === undefined ? url : `${form} ${url}`;
};

export const createPlanMemory = <State extends Scope>(bytes: number): PlanMemory<State> => {
  // one map for each version that headers may name, and one for none, so that the URL alone is nearly always the key
  const plans = [0, 1, 2].map(() => createBoundedMap<Plan<State>>(bytes / 3));
  const lately = createAskedLately(lookedBackUpon);
  return {
    recall: (request) => plans[versionInHeaders(request.headers)]?.get(keyOf(request)),
    remember: (request, plan) => {
      if (!isRead(request) || plan.entry.route.authenticated === true) return;
      const key = keyOf(request);
      if (lately.before(key)) {
        plan.again = true;
        freeze(plan.input);
        plans[versionInHeaders(request.headers)]?.set(key, plan, 8 * key.length + overhead);
      }
    },
  };
};

/** Text of a parsed query; a bigint and an equal number give different texts. */
const queryText = (query: unknown): string =>
  JSON.stringify(query, (_, value: unknown) => (typeof value === "bigint" ? { bigint: String(value) } : value));

/**
 * Identifies the route, its whole parsed input and the form of the reply. The links of a list repeat the caller's parameters as written, so for lists their
 * text is used instead of the parsed values.
 */
const questionOf = <State extends Scope>({ route }: CompiledRoute<State>, input: RouteInput, asked: Asked): string => {
  const { params, pairs, prefix, amounts } = asked;
  const parsed = route.kind === "list" ? JSON.stringify(pairs) : input.query === undefined ? "" : queryText(input.query);
  return `${route.versions.join()} ${prefix} ${amounts} ${route.path} ${JSON.stringify(params)} ${parsed}`;
};
