import type { IncomingMessage } from "node:http";
import type { AccessLogEntry } from "../../types/node-context.js";
import type { FullClock } from "../async/clock.js";
import type { Replied } from "../http/pipeline/request-context.js";
import type { Metrics } from "./metrics.js";
import { routeLabel } from "./request-durations.js";

/** Milliseconds with three digits after the point. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

type AccessLog = (entry: AccessLogEntry, request: IncomingMessage) => void;

interface ReplyObserverNeeds {
  metrics: Metrics | undefined;
  accessLog: AccessLog | undefined;
  clock: FullClock;
  /** Finds the address of a request's client; undefined where that is not to be logged. */
  clientOf: ((request: IncomingMessage) => { toString(): string } | undefined) | undefined;
}

/** Tells metrics and access log of requests; undefined where nobody wants to know. */
export const createReplyObserver = ({
  metrics,
  accessLog,
  clock,
  clientOf,
}: ReplyObserverNeeds): ((replied: Replied) => void) | undefined => {
  const log = (replied: Replied): void => {
    const { request, id, route, status, ms, bytes, work } = replied;
    const entry = {
      time: new Date(clock.now()).toISOString(),
      requestId: id,
      method: request.method ?? "",
      route: routeLabel(route),
      status,
      ms: rounded(ms),
      bytes,
      work: rounded(Math.min(work, ms)),
      ...(clientOf === undefined ? {} : { client: String(clientOf(request) ?? "unknown") }),
    };
    accessLog?.(entry, request);
  };
  if (accessLog === undefined) return metrics?.replied;
  return (replied) => {
    metrics?.replied(replied);
    log(replied);
  };
};
