import type { IncomingMessage } from "node:http";
import { createAskedLately } from "./asked-lately.js";
import { createBoundedMap } from "./bounded-map.js";
import type { Asked, CompiledRoute, RouteInput } from "./compiled-route.js";
import type { Scope } from "./route.js";
import type { HeaderPairs } from "./standing-headers.js";
import { type Generation, versionInHeaders } from "./version.js";

/** What a request comes to before any state is looked at: found, checked and parsed. A class, since one is made for every request. */
export class Plan<State extends Scope> {
  readonly entry: CompiledRoute<State>;
  readonly generation: Generation;
  readonly asked: Asked;
  readonly input: RouteInput;
  /** Headers of every answer to this way of asking. */
  readonly headers: HeaderPairs;
  /** Whether the same was asked for before, so that it is worth keeping what it comes to. */
  again = false;
  private named: string | undefined;

  constructor(entry: CompiledRoute<State>, generation: Generation, asked: Asked, input: RouteInput, headers: HeaderPairs) {
    this.entry = entry;
    this.generation = generation;
    this.asked = asked;
    this.input = input;
    this.headers = headers;
  }

  /** Names all that was asked. Equal questions have equal answers in one state. */
  get question(): string {
    return (this.named ??= questionOf(this.entry, this.input, this.asked));
  }
}

/**
 * Plans of GETs by the literal URL and the version that the headers name: nothing else of a request goes into them. A plan is kept
 * when its URL is asked for the second time: to keep what is asked for once costs more than to make it.
 */
export interface PlanMemory<State extends Scope> {
  recall(request: IncomingMessage): Plan<State> | undefined;
  remember(request: IncomingMessage, plan: Plan<State>): void;
}

const freeze = <Value>(value: Value): Value => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
};

const rememberable = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/** What a plan takes beside its URL, which it holds about four times over. */
const overhead = 1500;

/** URLs that are looked back upon: somewhat more than there are replies in a cache of the usual size. */
const lookedBackUpon = 65_536;

export const createPlanMemory = <State extends Scope>(bytes: number): PlanMemory<State> => {
  // one for each version that headers may name, and one for none: a key is then the URL as it came
  const plans = [0, 1, 2].map(() => createBoundedMap<Plan<State>>(bytes / 3));
  const lately = createAskedLately(lookedBackUpon);
  return {
    recall: (request) => (rememberable(request) ? plans[versionInHeaders(request.headers)]?.get(request.url ?? "") : undefined),
    remember: (request, plan) => {
      const url = request.url ?? "";
      if (rememberable(request) && plan.entry.route.authenticated !== true && lately.before(url)) {
        plan.again = true;
        freeze(plan.input);
        plans[versionInHeaders(request.headers)]?.set(url, plan, 8 * url.length + overhead);
      }
    },
  };
};

/** Text of a query: bigints and numbers stay apart. */
const queryText = (query: unknown): string =>
  JSON.stringify(query, (_, value: unknown) => (typeof value === "bigint" ? { bigint: String(value) } : value));

/**
 * Names route and whole parsed input. A list's links repeat the caller's parameters as the caller wrote them, so there the text of
 * these stands for what it was parsed to.
 */
const questionOf = <State extends Scope>({ route }: CompiledRoute<State>, input: RouteInput, asked: Asked): string => {
  const parsed = route.kind === "list" ? JSON.stringify(asked.pairs) : input.query === undefined ? "" : queryText(input.query);
  return `${route.versions.join()} ${route.path} ${JSON.stringify(asked.params)} ${parsed}`;
};
