import { hash, timingSafeEqual } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { ProcessMetrics } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import { type Route, routesOf, type Scope } from "../../http/route.js";
import type { Metrics } from "./metrics.js";

interface MetricsRouteNeeds {
  metrics: Pick<Metrics, "contentType" | "text">;
  /** What a client has to send as `Authorization: Bearer TOKEN`; undefined: nothing. */
  token: string | undefined;
  /** Metrics of the other processes that serve the same port. It is told what the reply has of this one. */
  others: ((own: ProcessMetrics) => MaybePromise<readonly ProcessMetrics[]>) | undefined;
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** In the same time, however much of it is right. */
const isToken = (sent: string | undefined, token: string): boolean => timingSafeEqual(digest(sent?.replace(/^Bearer /i, "") ?? ""), digest(token));

/** `GET /metrics`: with workers, one reply for all of them. */
export const metricsRoute = <State extends Scope>({ metrics, token, others }: MetricsRouteNeeds): Route<State> =>
  routesOf<State>().body({
    method: "GET",
    path: "/metrics",
    versions: [1, 2],
    resource: "node",
    operation: "getMetrics",
    summary: "Returns the metrics of the node, as Prometheus reads them.",
    stateless: true,
    cache: "never",
    errors: token === undefined ? [] : [401],
    content: { "text/plain": Type.String() },
    answer: async ({ headers }) => {
      if (token !== undefined && !isToken(headers.authorization, token)) throw new PorticoError("UNAUTHORIZED", "Missing or invalid metrics token.");
      const text = await metrics.text(others);
      return { file: Buffer.from(text), contentType: metrics.contentType };
    },
  });
