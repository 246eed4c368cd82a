import { AsyncLocalStorage } from "node:async_hooks";
import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { ask } from "./ask.js";
import { listenerOf, listening } from "./listening.js";
import { manyThings, type ThingState, withThings } from "./things.js";

/** Different requests, so that no reply is kept for another. */
const different = (count: number): string[] => Array.from({ length: count }, (_, index) => `/api/things?limit=1&offset=${index}`);

/** A request without a connection, so that others arrive within the same turn of the event loop. */
const arrivalOf = (url: string): [IncomingMessage, ServerResponse] => {
  const request = Object.assign(new IncomingMessage(null as unknown as Socket), { method: "GET", url });
  return [request, new ServerResponse(request)];
};

const thingsState = (): ThingState => ({ things: manyThings(250), tip: { id: "tip1", height: 77 } });

describe("requests that arrive together", () => {
  it("are each answered with their own status, and hold nothing open", () =>
    withThings({}, {}, async ({ port, edge, states, errors }) => {
      const kinds = [["/api/things?limit=1", 200], ["/api/things?limit=0", 400], ["/api/things/nobody", 404], ["/api/nothing", 404], ["/api/failing", 500]] as const;
      const asked = Array.from({ length: 20 }, () => kinds).flat();
      const answers = await Promise.all(asked.map(([path]) => ask(port, path)));
      expect(answers.map(({ status }) => status)).to.deep.equal(asked.map(([, status]) => status));
      await edge.drained();
      expect([edge.open, states.open]).to.deep.equal([0, 0]);
      expect(errors).to.have.length(20);
    }));

  it("are answered in batches: several before other work, and not more than 32", async () => {
    let opened = 0;
    const openState = (): ThingState => {
      opened += 1;
      return thingsState();
    };
    await withThings({ rateLimit: false }, { openState }, async ({ edge }) => {
      const handle = edge.callback();
      different(70).forEach((url) => handle(...arrivalOf(url)));
      expect(edge.open).to.equal(70);
      const batches: number[] = [];
      while (opened < 70) {
        const before = opened;
        await new Promise((resolve) => setImmediate(resolve));
        if (opened > before) batches.push(opened - before);
      }
      expect(batches).to.deep.equal([32, 32, 6]);
    });
  });

  it("each keep the asynchronous context in which they arrived", async () => {
    const visitor = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const openState = (): ThingState => {
      seen.push(visitor.getStore());
      return thingsState();
    };
    await withThings({ rateLimit: false }, { openState }, async ({ edge }) => {
      const handle = edge.callback();
      const visitors = different(10).map((url) => {
        visitor.run(url, () => handle(...arrivalOf(url)));
        return url;
      });
      await edge.drained();
      expect(seen).to.deep.equal(visitors);
    });
  });

  for (const host of ["a listener of its own", "a host's Koa app"]) {
    it(`are answered although the node begins to stop before their batch, those that fail too: ${host}`, async () => {
      for (const [path, status] of [["/api/things", 200], ["/api/things?limit=0", 400]] as const) {
        let stopping = false;
        await withThings({}, { isStopping: () => stopping }, async ({ edge }) => {
          const app = new Koa();
          edge.mount(app);
          const handle = host === "a host's Koa app" ? listenerOf(app) : edge.callback();
          let drained: Promise<void> | undefined;
          await listening(
            (request, response) => {
              handle(request, response);
              stopping = true;
              drained = edge.drained();
            },
            async (port) => {
              const answer = await ask(port, path);
              expect([answer.status, answer.headers.connection]).to.deep.equal([status, "close"]);
              await drained;
              expect(edge.open).to.equal(0);
            },
          );
        });
      }
    });
  }
});
