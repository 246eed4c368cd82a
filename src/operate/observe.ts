import { statSync } from "node:fs";
import { join } from "node:path";
import type { IncomingMessage } from "node:http";
import type { AccessLogEntry, SyncState } from "../../types/node-context.js";
import type { FullClock } from "../clock.js";
import type { Replied } from "../http/pipeline/replied.js";
import type { HealthReports } from "./health.js";
import type { LoopLag } from "./loop-lag.js";
import type { Metrics, Observed, WebhookFigures } from "./metrics.js";
import { routeLabel } from "./request-durations.js";

export interface ObservedNeeds {
  reports: Pick<HealthReports, "health" | "pace">;
  clock: FullClock;
  sync: SyncState | undefined;
  /** Folder of the store's files; undefined where there are none. */
  dataDir: string | undefined;
  loopLag: LoopLag;
  streams(): number;
  /** Bytes of the replies that are kept. */
  cached(): number;
  /** Undefined where there are none, or another process delivers. */
  webhooks(): { standing(tip: number): Promise<WebhookFigures> } | undefined;
  /** Height of the last block in the lake's files, and milliseconds since its writer last succeeded. Undefined where this process writes none. */
  lake(): { height: number | undefined; age: number } | undefined;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Reads from the node what its metrics tell. */
export const createObserved = ({ reports, clock, sync, dataDir, loopLag, streams, cached, webhooks, lake }: ObservedNeeds): Observed => ({
  tipHeight: () => reports.health().height,
  tipAge: () => {
    const pace = reports.pace();
    return pace === undefined ? undefined : (clock.now() - pace.forgedAt) / 1000;
  },
  blocksBehind: async () => {
    if (sync === undefined) return 0;
    try {
      return Math.max(0, (await sync.networkHeight()) - reports.health().height);
    } catch {
      // What the host cannot say must not hide all that this process can.
      return undefined;
    }
  },
  storeBytes: () => (dataDir === undefined ? undefined : sizeOf(join(dataDir, "chain.mdb")) + sizeOf(join(dataDir, "webhooks.mdb"))),
  loopLag: () => loopLag.milliseconds() / 1000,
  streams,
  cached,
  webhooks: async () => webhooks()?.standing(reports.health().height),
  lake: () => {
    const found = lake();
    return found && { height: found.height, age: found.age / 1000 };
  },
});

/** Milliseconds with three digits after the point. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

type AccessLog = (entry: AccessLogEntry, request: IncomingMessage) => void;

export interface ReplyObserverNeeds {
  metrics: Metrics | undefined;
  accessLog: AccessLog | undefined;
  clock: FullClock;
  /** Finds the address of a request's client; undefined where that is not to be logged. */
  clientOf: ((request: IncomingMessage) => { toString(): string } | undefined) | undefined;
}

/** Tells metrics and access log of requests; undefined where nobody wants to know. */
export const createReplyObserver = ({ metrics, accessLog, clock, clientOf }: ReplyObserverNeeds): ((replied: Replied) => void) | undefined => {
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
