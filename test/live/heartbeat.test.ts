import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { After } from "../../src/clock.js";
import { cursorText } from "../../src/follow/cursor.js";
import { changeStream } from "../../src/live/change-stream.js";
import { eventStream } from "../../src/live/event-stream.js";
import { Node, randomFrom } from "../follow/schedule.js";
import { closeTemporaryStores, temporaryFolder } from "../store/temporary-store.js";
import { createManualClock, type ManualClock } from "../webhooks/manual-clock.js";

const heartbeat = 14_000;

describe("A stream that has nothing to tell", () => {
  let node: Node;
  let clock: ManualClock;
  let leaving: AbortController;
  let wake: () => void;

  beforeEach(async () => {
    node = new Node(temporaryFolder(), "heartbeat");
    await node.begin();
    clock = createManualClock();
    leaving = new AbortController();
    wake = () => undefined;
  });
  afterEach(async () => {
    leaving.abort();
    await node.store.stop();
    await closeTemporaryStores();
  });

  const needs = () => {
    const follow: Node["follow"] = { ...node.follow, watch: (changed) => ((wake = changed), () => undefined) };
    const after: After = (milliseconds, callback) => clock.after(milliseconds, callback);
    return { follow, heartbeat, clock, after, signal: leaving.signal };
  };
  /** What the stream sends when so much time has passed, once it waits. */
  const afterTime = async (stream: AsyncGenerator<string>, milliseconds: number): Promise<string | undefined> => {
    const next = stream.next();
    while (clock.timers() === 0) await turn();
    clock.advance(milliseconds - 1);
    let isThere = false;
    void next.then(() => (isThere = true));
    await turn();
    expect(isThere, "sent too early").to.equal(false);
    clock.advance(1);
    return (await next).value as string | undefined;
  };

  it("sends a comment, or where the cursor has moved, that", async () => {
    const nothing = { listens: () => false, matches: () => false };
    const from = await node.follow.tip();
    const stream = eventStream(from, nothing, {}, needs());
    expect((await stream.next()).value).to.equal(`id: ${cursorText(from)}\n\n`);
    expect(await afterTime(stream, heartbeat)).to.equal(":\n\n");
    // Its readers are told of no event of the block.
    await node.apply(randomFrom(1));
    wake();
    expect(await afterTime(stream, heartbeat)).to.equal(`id: ${cursorText(await node.follow.tip())}\n\n`);
    expect(await afterTime(stream, heartbeat)).to.equal(":\n\n");
    await stream.return(undefined);
    expect(clock.timers()).to.equal(0);
  });

  it("sends an empty line, if it is one of changes", async () => {
    const stream = changeStream(await node.follow.tip({ hostEvents: false }), { limit: Infinity, endless: true, timed: false }, needs());
    expect(await afterTime(stream, heartbeat)).to.equal("\n");
    const next = stream.next();
    while (clock.timers() === 0) await turn();
    clock.advance(heartbeat - 1);
    await node.apply(randomFrom(1));
    wake();
    expect(JSON.parse((await next).value as string)).to.have.property("kind", "applied");
    // The time counts from what was sent last.
    expect(await afterTime(stream, heartbeat)).to.equal("\n");
    await stream.return(undefined);
  });
});
