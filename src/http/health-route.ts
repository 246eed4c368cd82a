import { Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Health } from "../../types/plugin.js";
import { type Route, routesOf, type Scope } from "./route.js";

const mark = (description: string) => Type.Optional(Type.Object({ height: Type.Integer(), id: Type.String() }, { description }));

/** What every health report has. */
export const healthMembers = {
  status: Type.Unsafe<Health["status"]>({ type: "string", enum: ["ok", "starting", "failing", "stopped"] }),
  height: Type.Integer({ description: "Height of the tip; 0 while there is none." }),
  tip: mark("The last block; absent while there is no state to read."),
  final: mark("The newest block that is taken to be final."),
  oldest: mark("The oldest block whose state can be asked for here (`at`)."),
  behind: Type.Optional(Type.Integer({ description: "Of a replica: blocks to its node's tip." })),
  lag: Type.Optional(Type.Integer({ description: "Of a replica: milliseconds since it was last known to have all blocks of its node; 0 while it has them." })),
};

const HealthReply = Type.Object(
  {
    ...healthMembers,
    problem: Type.Optional(Type.String({ description: "Why the chain cannot be followed at present, or how far a rebuild of the store is; absent if nothing is wrong." })),
  },
  { title: "Health" },
);

/** `GET /health`: 200 while the status is `ok`, otherwise 503. */
export const healthRoute = <State extends Scope>(health: () => MaybePromise<Health>): Route<State> =>
  routesOf<State>().item({
    method: "GET",
    path: "/health",
    versions: [1, 2],
    resource: "node",
    summary: "Returns whether the interface follows the chain.",
    stateless: true,
    cache: "never",
    status: ({ status }) => (status === "ok" ? 200 : 503),
    reply: HealthReply,
    answer: () => health(),
  });
