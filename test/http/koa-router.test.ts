import { Router } from "@koa/router";
import { expect } from "chai";
import Koa, { type Context } from "koa";
import { ask } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { routes, type Served, serveThings } from "./things.js";

/** What @koa/router leaves on the context, for the middleware of a host. */
type Matched = Context & { params?: Record<string, string>; _matchedRoute?: string | RegExp; _matchedRouteName?: string; routerPath?: string; router?: Router };

describe("the router handed to hosts", () => {
  let served: Served;
  before(async () => {
    served = await serveThings();
  });
  after(() => served.stop());

  it("lists each route once, under its path, method and name", () => {
    const { router } = served.edge;
    const layers = router.stack.filter(({ path }) => typeof path === "string").map(({ path, methods, name }) => [path, methods.filter((method) => method !== "HEAD").join(), name]);
    expect(layers).to.deep.include.members([
      ["/api/things", "GET", "getThings"],
      ["/api/things/:name", "GET", "getThing"],
      ["/api/v1/both", "GET", "getV1Both"],
      ["/api/both", "GET", "getBoth"],
      ["/api/health", "GET", "getHealth"],
      ["/api", "GET", "getRoot"],
    ]);
    expect(layers).to.have.length(routes.length + 5);
    expect(new Set(layers.map(([, , name]) => name)).size).to.equal(layers.length);
  });

  it("names routes as the OpenAPI document does", () => {
    const operations = Object.values(served.edge.openapi.paths).flatMap((path) => Object.values(path as Record<string, { operationId: string }>));
    const names = served.edge.router.stack.map(({ name }) => name).filter((name) => name !== undefined && name !== "getDocsFile");
    expect(names).to.have.members(operations.map(({ operationId }) => operationId));
  });

  it("writes the URL of a route", () => {
    expect(served.edge.router.url("getThing", { name: "a b" })).to.equal("/api/things/a%20b");
    expect(served.edge.router.url("getThings", {}, { query: { limit: 3 } })).to.equal("/api/things?limit=3");
  });

  /** Counts requests by route, as a host's own metrics do. */
  const counted = (app: Koa): Map<string, number> => {
    const counts = new Map<string, number>();
    app.use(async (ctx: Matched, next) => {
      await next();
      const label = `${ctx.method} ${ctx._matchedRouteName ?? "none"} ${String(ctx._matchedRoute ?? "none")} ${ctx.status}`;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    });
    return counts;
  };

  const requests = async (port: number): Promise<void> => {
    for (const name of ["thing001", "thing002", "thing001", "thing001"]) await ask(port, `/api/things/${name}`);
    await ask(port, "/api/v2/things/thing003");
    await ask(port, "/api/things/nobody");
    await ask(port, "/api/things?limit=0");
    await ask(port, "/api/both", { headers: { "API-Version": "1" } });
    await ask(port, "/api/things/search", { method: "POST" });
    await ask(port, "/api/nothing");
  };

  const labels = {
    "GET getThing /api/things/:name 200": 5,
    "GET getThing /api/things/:name 404": 1,
    "GET getThings /api/things 400": 1,
    "GET getV1Both /api/v1/both 200": 1,
    "POST searchThings /api/things/search 200": 1,
  };

  it("lets a host's metrics label requests by route, cached ones and errors, too", async () => {
    const app = new Koa();
    const counts = counted(app);
    served.edge.mount(app);
    await listening(listenerOf(app), requests);
    expect(Object.fromEntries(counts)).to.deep.equal({ ...labels, "GET none none 404": 1 });
  });

  it("tells the path's parameters, and does not let a host change those of the next request", async () => {
    const app = new Koa();
    const seen: unknown[] = [];
    app.use(async (ctx: Matched, next) => {
      await next();
      seen.push({ ...ctx.params }, ctx.routerPath, ctx.router === served.edge.router);
      Object.assign(ctx.params ?? {}, { name: "another" });
    });
    served.edge.mount(app);
    await listening(listenerOf(app), async (port) => {
      for (let time = 0; time < 4; time += 1) expect((await ask(port, "/api/things/thing007")).text).to.include("thing007");
    });
    expect(seen).to.deep.equal(Array.from({ length: 4 }, () => [{ name: "thing007" }, "/api/things/:name", true]).flat());
  });

  it("takes layers of the host's own, and can be nested in a router of the host's", async () => {
    const own = await serveThings();
    try {
      const app = new Koa();
      const counts = counted(app);
      own.edge.router.use(async (ctx, next) => {
        await next();
        ctx.set("X-Host", "here");
      });
      app.use(own.edge.router.routes());
      await listening(listenerOf(app), async (port) => {
        await requests(port);
        expect((await ask(port, "/elsewhere")).status).to.equal(404);
      });
      expect(Object.fromEntries(counts)).to.include(labels);

      const nested = new Koa();
      const outer = new Router();
      outer.use(served.edge.router.routes());
      const outerCounts = counted(nested);
      nested.use(outer.routes());
      await listening(listenerOf(nested), requests);
      expect(Object.fromEntries(outerCounts)).to.include(labels);
    } finally {
      await own.stop();
    }
  });

  it("answers nothing of a path that is below the base path only by a prefix of the host's", async () => {
    const app = new Koa();
    app.use(new Router().use("/x", served.edge.router.routes()).routes());
    await listening(listenerOf(app), async (port) => {
      for (const path of ["/x/api", "/x/api/things/thing001", "/x/api/nothing"]) expect((await ask(port, path)).status, path).to.equal(404);
      expect((await ask(port, "/x/api")).text).to.equal("Not Found");
    });
  });
});
