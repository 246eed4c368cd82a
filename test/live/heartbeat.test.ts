import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import type { After } from "../../src/async/clock.js";
import { cursorText } from "../../src/follow/cursor.js";
import { changeStream } from "../../src/live/change-stream.js";
import { createOpenEvents } from "../../src/live/event-stream.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { Node, randomFrom } from "../follow/schedule.js";
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
  });

  const needs = () => {
    const follow: Node["follow"] = { ...node.follow, watch: (changed) => ((wake = changed), () => undefined) };
    const after: After = (milliseconds, callback) => clock.after(milliseconds, callback);
    return { follow, heartbeat, clock, after, signal: leaving.signal };
  };
  /** What the stream sends when so much time has passed, once it waits. */
  const afterTime = async (stream: AsyncIterator<string | Buffer>, milliseconds: number): Promise<string> => {
    const next = stream.next();
    while (clock.timers() === 0) await turn();
    clock.advance(milliseconds - 1);
    let isThere = false;
    void next.then(() => (isThere = true));
    await turn();
    expect(isThere, "sent too early").to.equal(false);
    clock.advance(1);
    return String((await next).value);
  };

  /** When everything that is on its way has been done. */
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await turn();
  };

  it("sends a comment, or where the cursor has moved, that", async () => {
    const nothing = { listens: () => false, matches: () => false };
    const openEvents = createOpenEvents({ ...needs(), select: () => Promise.resolve({ filter: nothing, hostEvents: true }) });
    const from = cursorText(await node.follow.tip());
    const stream = (await openEvents("tip", {}))();
    expect(String((await stream.next()).value)).to.equal(`id: ${from}\n\n`);
    // All streams of a channel are looked at every half of the time, so that none waits longer than all of it.
    expect(await afterTime(stream, heartbeat / 2)).to.equal(":\n\n");
    const next = stream.next();
    // Its readers are told of no event of the block.
    await node.apply(randomFrom(1));
    wake();
    await settled();
    clock.advance(heartbeat / 2);
    const now = cursorText(await node.follow.tip());
    expect(now).to.not.equal(from);
    expect(String((await next).value)).to.equal(`id: ${now}\n\n`);
    expect(await afterTime(stream, heartbeat / 2)).to.equal(":\n\n");
    await stream.return();
    expect(clock.timers()).to.equal(0);
  });

  it("sends it at a time of its own, where it began or told something between two looks at the channel", async () => {
    const all = { listens: () => true, matches: () => true };
    const openEvents = createOpenEvents({ ...needs(), select: () => Promise.resolve({ filter: all, hostEvents: true }) });
    const first = (await openEvents("tip", {}))();
    const begun = String((await first.next()).value);
    clock.advance(heartbeat / 4);
    const second = (await openEvents("tip", {}))();
    expect(String((await second.next()).value)).to.equal(begun);
    const sent: string[] = [];
    void first.next().then(({ value }) => sent.push(`first ${String(value)}`));
    void second.next().then(({ value }) => sent.push(`second ${String(value)}`));
    await settled();
    clock.advance(heartbeat / 4);
    await settled();
    expect(sent).to.deep.equal(["first :\n\n"]);
    clock.advance(heartbeat / 2);
    await settled();
    expect(sent).to.deep.equal(["first :\n\n", "second :\n\n"]);
    await Promise.all([first.return(), second.return()]);
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
