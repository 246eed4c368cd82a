import { Type } from "@sinclair/typebox";
import { healthMembers } from "../http/service-routes.js";
import { type Route, routesOf, type Scope } from "../http/route.js";
import type { HealthReports } from "./health.js";

const Live = Type.Object({ status: Type.Literal("ok") }, { title: "Live" });

const Ready = Type.Object(
  {
    ...healthMembers,
    problem: Type.Optional(
      Type.String({ description: "Why no requests should be sent here: `starting`, `catching up`, `behind the host`, `diverged`, `stale`, `store cannot be written`, `full disk`, `stopping`, `node unreachable`, `node behind` or `failing`; absent if they should." }),
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
    item({ ...probe, path: "/health/live", summary: "Returns that the process answers. If it does not, it has to be restarted.", reply: Live, answer: () => ({ status: "ok" as const }) }),
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
