import type { IncomingMessage } from "node:http";
import { createBoundedMap } from "./bounded-map.js";
import type { Asked, CompiledRoute, RouteInput } from "./compiled-route.js";
import type { Scope } from "./route.js";
import type { HeaderPairs } from "./standing-headers.js";
import { type Generation, versionInHeaders } from "./version.js";

/** What a request comes to before any state is looked at: found, checked and parsed. */
export interface Plan<State extends Scope> {
  entry: CompiledRoute<State>;
  generation: Generation;
  asked: Asked;
  input: RouteInput;
  /** Names all that was asked. Equal questions have equal answers in one state. */
  question: string;
  /** Headers of every answer to this way of asking. */
  headers: HeaderPairs;
}

/** Plans of GETs by the literal URL and the version that the headers name: nothing else of a request goes into them. */
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

export const createPlanMemory = <State extends Scope>(bytes: number): PlanMemory<State> => {
  // one for each version that headers may name, and one for none: a key is then the URL as it came
  const plans = [0, 1, 2].map(() => createBoundedMap<Plan<State>>(bytes / 3));
  return {
    recall: (request) => (rememberable(request) ? plans[versionInHeaders(request.headers)]?.get(request.url ?? "") : undefined),
    remember: (request, plan) => {
      const url = request.url ?? "";
      if (rememberable(request) && plan.entry.route.authenticated !== true) {
        freeze(plan.input);
        plans[versionInHeaders(request.headers)]?.set(url, plan, 8 * url.length + overhead);
      }
    },
  };
};

/** Text of a parsed input: bigints and numbers stay apart, and so do different members. */
const inputText = ({ params, query, page }: RouteInput): string =>
  JSON.stringify([params, query, page], (_, value: unknown) => (typeof value === "bigint" ? { bigint: String(value) } : value));

/** A list's links repeat the caller's parameters as the caller wrote them, so these are part of the question. */
export const questionOf = <State extends Scope>(entry: CompiledRoute<State>, input: RouteInput, asked: Asked): string => {
  const spelling = entry.route.kind === "list" ? JSON.stringify(asked.pairs) : "";
  return `${entry.route.versions.join()} ${entry.route.path} ${inputText(input)}${spelling}`;
};
