import { Type } from "@sinclair/typebox";
import { healthMembers } from "../http/service-routes.js";
import { type Route, routesOf, type Scope } from "../http/route.js";
import type { HealthReports } from "./health.js";
import { hash, timingSafeEqual } from "node:crypto";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { ProcessMetrics } from "../../types/node-context.js";
import { PorticoError } from "../errors.js";
import type { Metrics } from "./metrics.js";

const Live = Type.Object({ status: Type.Literal("ok") }, { title: "Live" });

const Ready = Type.Object(
  {
    ...healthMembers,
    problem: Type.Optional(
      Type.String({
        description:
          "Why no requests should be sent here: `starting`, `catching up`, `behind the host`, `diverged`, `stale`, `store cannot be written`, `full disk`, `stopping`, `node unreachable`, `node behind` or `failing`; absent if they should.",
      }),
    ),
    detail: Type.Optional(Type.String({ description: "The problem in a sentence for people." })),
  },
  { title: "Readiness" },
);

/** The probes of an orchestrator or a load balancer. */
export const probeRoutes = <State extends Scope>({ ready }: Pick<HealthReports, "ready">): Route<State>[] => {
  const { item } = routesOf<State>();
  const probe = { method: "GET", versions: [1, 2], resource: "node", stateless: true, cache: "never", isProbe: true } as const;
  return [
    item({
      ...probe,
      path: "/health/live",
      summary: "Returns 200 as long as the process answers. If it does not, restart it.",
      reply: Live,
      answer: () => ({ status: "ok" as const }),
    }),
    item({
      ...probe,
      path: "/health/ready",
      summary: "Returns whether requests should be sent here: 200 if so, otherwise 503 with the problem.",
      status: ({ problem }) => (problem === undefined ? 200 : 503),
      reply: Ready,
      answer: async () => {
        const { health, unready } = await ready();
        const { problem: _, ...rest } = health;
        return { ...rest, ...unready };
      },
    }),
  ];
};

interface MetricsRouteNeeds {
  metrics: Pick<Metrics, "contentType" | "text">;
  /** What a client has to send as `Authorization: Bearer TOKEN`; undefined: nothing. */
  token: string | undefined;
  /** Metrics of the other processes that serve the same port. It is told what the reply has of this one. */
  others: ((own: ProcessMetrics) => MaybePromise<readonly ProcessMetrics[]>) | undefined;
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** In the same time, however much of it is right. */
const isToken = (sent: string | undefined, token: string): boolean =>
  timingSafeEqual(digest(sent?.replace(/^Bearer /i, "") ?? ""), digest(token));

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
      if (token !== undefined && !isToken(headers.authorization, token))
        throw new PorticoError("UNAUTHORIZED", "Missing or invalid metrics token.");
      const text = await metrics.text(others);
      return { file: Buffer.from(text), contentType: metrics.contentType };
    },
  });
