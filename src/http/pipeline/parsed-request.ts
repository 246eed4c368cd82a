import type { IncomingMessage } from "node:http";
import type { Scope } from "../route.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import { formInHeaders } from "../routing/amounts.js";
import { type Generation, versionInHeaders } from "../routing/version.js";
import type { Asked, Endpoint, RouteInput } from "./endpoint.js";

/** A request matched, checked and parsed: all that its reply depends on besides the body and the state. A class, which is cheap to make. */
export class ParsedRequest<State extends Scope> {
  readonly endpoint: Endpoint<State>;
  readonly generation: Generation;
  readonly asked: Asked;
  readonly input: RouteInput;
  /** Version headers of every reply to it. */
  readonly headers: HeaderPairs;

  constructor(endpoint: Endpoint<State>, generation: Generation, asked: Asked, input: RouteInput, headers: HeaderPairs) {
    this.endpoint = endpoint;
    this.generation = generation;
    this.asked = asked;
    this.input = input;
    this.headers = headers;
  }
}

const freeze = (value: unknown): void => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
};

/** Makes sure that no request can change what equal ones share. */
export const freezeParsed = <State extends Scope>({ asked, input }: ParsedRequest<State>): void => {
  freeze(asked);
  freeze(input);
};

export const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/** Identifies a GET or HEAD request: the literal URL, and what the headers say of version and amounts, if anything. */
export const cacheKeyOf = ({ url = "", headers }: IncomingMessage): string => {
  const version = versionInHeaders(headers);
  const form = formInHeaders(headers);
  return version === 0 && form === undefined ? url : `${version} ${form ?? ""} ${url}`;
};
