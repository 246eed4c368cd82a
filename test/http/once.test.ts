import { Type } from "@sinclair/typebox";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { routesOf } from "../../src/http/route.js";
import { ask } from "./ask.js";
import { hosts, listening } from "./listening.js";
import { routes, type ThingState, withThings } from "./things.js";

const runs = new Map<string, number>();
const counted = <T>(name: string, answer: () => T) => (): T => {
  runs.set(name, (runs.get(name) ?? 0) + 1);
  return answer();
};
const refuse = (error: Error) => (): never => {
  throw error;
};

/** What a handler does, and the status that comes of it. */
const handlers: Record<string, { status: number; answer(): { ok: boolean } | Promise<{ ok: boolean }> }> = {
  answers: { status: 200, answer: () => ({ ok: true }) },
  "answers later": { status: 200, answer: () => Promise.resolve({ ok: true }) },
  "refuses the request": { status: 404, answer: refuse(new PorticoError("WALLET_NOT_FOUND")) },
  "refuses the request later": { status: 404, answer: () => Promise.reject(new PorticoError("WALLET_NOT_FOUND")) },
  fails: { status: 500, answer: refuse(new Error("as expected")) },
  "fails later": { status: 500, answer: () => Promise.reject(new Error("as expected")) },
  "answers what cannot be written": { status: 500, answer: () => ({}) as { ok: boolean } },
};

const pathOf = (name: string): string => `/once/${name.replaceAll(" ", "-")}`;

const thingRoutes = routesOf<ThingState>();
const countedRoutes = Object.entries(handlers).flatMap(([name, { answer }]) =>
  (["GET", "POST"] as const).map((method) =>
    thingRoutes.item({
      method,
      path: pathOf(name),
      versions: [2],
      resource: "things",
      summary: "Counts.",
      reply: Type.Object({ ok: Type.Boolean() }),
      answer: counted(`${method} ${name}`, answer),
    }),
  ),
);

describe("a route's handler", () => {
  for (const [host, listenerBy] of Object.entries(hosts)) {
    it(`runs once for each request, whatever comes of it: at ${host}`, () =>
      withThings({ cacheSize: 0 }, { routes: [...routes, ...countedRoutes] }, async ({ edge }) => {
        await listening(listenerBy(edge), async (port) => {
          for (const [name, { status }] of Object.entries(handlers)) {
            for (const method of ["GET", "HEAD", "POST"]) {
              runs.clear();
              const answer = await ask(port, `/api${pathOf(name)}`, { method });
              expect(answer.status, `${method}: ${name}`).to.equal(status);
              expect([...runs], `${method}: ${name}`).to.deep.equal([[`${method === "POST" ? "POST" : "GET"} ${name}`, 1]]);
            }
          }
        });
      }));
  }

  it("does not run for a request that is refused before it", () =>
    withThings({ rateLimit: { perMinute: 2, exempt: [] } }, { routes: [...routes, ...countedRoutes] }, async ({ port }) => {
      runs.clear();
      for (const [path, status] of [["/api/once/answers?unknown=1", 400], ["/api/once/nothing", 404], ["/api/once/answers", 429]] as const) {
        expect((await ask(port, path)).status, path).to.equal(status);
      }
      expect([...runs]).to.deep.equal([]);
    }));
});
