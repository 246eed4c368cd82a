import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createLifecycle, createNodePhase } from "../../src/operate/lifecycle.js";
import { silentLogger } from "../silent.js";
import { manyThings, type ThingState, withThings } from "./things.js";

const done = (): Promise<void> => Promise.resolve();

/** More bytes than the buffers of both sides hold. */
const size = 40_000_000;
const large: ThingState = {
  things: manyThings(1).map((thing) => ({ ...thing, asset: { text: "x".repeat(size) } })),
  tip: { id: "tip", height: 1 },
};

/** Stops a node once a reply is under way to a client that reads nothing before, and returns the number of bytes that the client gets. */
const stopDuring = async (headers: string, stopsWhen: "computed" | "written"): Promise<number> => {
  let compute = (): void => undefined;
  const computed = new Promise<void>((resolve) => (compute = resolve));
  const phase = createNodePhase();
  let received = 0;
  const needs = { isStopping: phase.isStopping, openState: () => (stopsWhen === "computed" ? computed.then(() => large) : large) };
  await withThings({ compression: false }, needs, async ({ edge }) => {
    const { createServer, drained, streams } = edge;
    const lifecycle = createLifecycle({ prepare: done, open: done, opened: done, close: done, createServer, drained, streams, stopTimeout: 50_000, logger: silentLogger }, phase);
    const server = await lifecycle.listen(0);
    let response: ServerResponse | undefined;
    server.on("request", (_, its: ServerResponse) => (response = its));
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(`GET /api/things HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
    while (response === undefined || (stopsWhen === "written" && !response.writableEnded)) await nextTurn();
    const stopped = lifecycle.stop();
    compute();
    while (!response.writableEnded) await nextTurn();
    expect(edge.open).to.equal(1);
    socket.on("data", ({ length }) => (received += length));
    await once(socket, "close");
    await stopped;
    expect(edge.open).to.equal(0);
  });
  return received;
};

describe("stopping", () => {
  for (const stopsWhen of ["computed", "written"] as const) {
    for (const [encoding, headers] of [["plain", ""], ["compressed", "Accept-Encoding: gzip;q=0.12\r\n"]] as const) {
      it(`sends the whole of a reply that is ${stopsWhen === "written" ? "being sent" : "being computed"}: ${encoding}`, async () => {
        expect(await stopDuring(headers, stopsWhen)).to.be.above(size);
      });
    }
  }

  it("ends a start for good: what it had begun to open does not end the next start before its time", async () => {
    await withThings({}, {}, async ({ edge }) => {
      const { createServer, drained, streams } = edge;
      const [phase, opening] = [createNodePhase(), [] as (() => void)[]];
      const open = (): Promise<void> => new Promise((resolve) => opening.push(resolve));
      const { start, stop } = createLifecycle({ prepare: done, open, opened: done, close: done, createServer, drained, streams, stopTimeout: 50_000, logger: silentLogger }, phase);
      const first = start();
      while (opening.length < 1) await nextTurn();
      await stop();
      const second = start();
      while (opening.length < 2) await nextTurn();
      opening[0]?.();
      await first;
      expect(phase.phase()).to.equal("starting");
      opening[1]?.();
      await second;
      expect(phase.phase()).to.equal("started");
    });
  });

  it("does not wait for a connection on which nothing has come yet", async () => {
    await withThings({}, {}, async ({ edge }) => {
      const { createServer, drained, streams } = edge;
      const lifecycle = createLifecycle({ prepare: done, open: done, opened: done, close: done, createServer, drained, streams, stopTimeout: 600_000, logger: silentLogger });
      const server = await lifecycle.listen(0);
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
      await once(server, "connection");
      const ended = once(socket.resume(), "close");
      await lifecycle.stop();
      await ended;
    });
  });
});
