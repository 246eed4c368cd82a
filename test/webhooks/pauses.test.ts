import { expect } from "chai";
import type { Webhook } from "../../types/webhooks.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, type Stage } from "./stage.js";

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

describe("the pause of a target that answered 429, or 503 with Retry-After", () => {
  let receiver: Receiver;
  let stage: Stage;

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage({ schedule: [5 * second, 5 * second, 5 * second, 5 * second] });
    // The machine has run for a while.
    stage.clock.advance(day);
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
  });

  const hook = (path = ""): Webhook => stage.engine.create({ event: "peer.added", target: `${receiver.url}${path}` });
  const emit = (): void => void stage.events.emit("peer.added", {});
  const askFor = (seconds: string | undefined, status = 429): void => {
    receiver.answer = (_request, response) => response.writeHead(status, seconds === undefined ? {} : { "retry-after": seconds }).end();
  };
  const accept = (): void => {
    receiver.answer = (_request, response) => response.end();
  };
  /** While the node is off, so much time passes. */
  const restart = (off: number, meanwhile: () => void = () => undefined): Promise<void> =>
    stage.restart({}, () => {
      stage.clock.advance(off);
      meanwhile();
      return Promise.resolve();
    });
  /** Has the first attempt answered so. */
  const pause = async (seconds: string | undefined, status?: number): Promise<Webhook> => {
    const webhook = hook();
    askFor(seconds, status);
    emit();
    await stage.attempted(webhook.id, 1, 1);
    return webhook;
  };

  for (const [title, by] of [["", 0], [", though the wall clock is set forward by 30 days meanwhile", 30 * day], [", though the wall clock is set back by an hour meanwhile", -hour], [", though the wall clock is set back by 30 days meanwhile", -30 * day]] as const) {
    for (const status of [429, 503]) {
      it(`goes on over a restart of the node, and ends in time (${status})${title}`, async () => {
        const { id } = await pause("3600", status);
        accept();
        await restart(20 * minute, () => stage.clock.set(by));
        // A second restart neither begins it again nor ends it.
        await restart(20 * minute);
        const end = stage.clock.now() + 20 * minute;
        stage.clock.advance(20 * minute - 1);
        stage.clock.advance(1);
        const { attempts } = await stage.reaches(id, 1, "delivered");
        expect(attempts.map(({ at }) => at).slice(1)).to.deep.equal([end]);
      });
    }
  }

  it("is over where the machine was off for longer", async () => {
    const { id } = await pause("3600");
    accept();
    await restart(2 * hour, () => stage.clock.startMachine());
    const { attempts } = await stage.reaches(id, 1, "delivered");
    expect(attempts[1]?.at).to.equal(stage.clock.now());
  });

  it("goes on where the machine is started anew, for no longer than it was to be", async () => {
    const { id } = await pause("3600");
    accept();
    await restart(10 * minute, () => stage.clock.startMachine());
    const end = stage.clock.now() + 50 * minute;
    stage.clock.advance(50 * minute - 1);
    stage.clock.advance(1);
    const { attempts } = await stage.reaches(id, 1, "delivered");
    expect(attempts[1]?.at).to.equal(end);
  });

  it("doubles with each answer that gives no time, over a restart, too", async () => {
    const { id } = await pause(undefined);
    for (const [count, length] of [[2, 10], [3, 20], [4, 40]] as const) {
      const end = stage.clock.now() + length * second;
      stage.clock.advance(length * second - 1);
      await stage.restart();
      stage.clock.advance(1);
      const { attempts } = await stage.attempted(id, 1, count);
      expect(attempts.at(-1)?.at).to.equal(end);
    }
  });

  it("goes on where its webhook is disabled and enabled again, and holds for one that is created later", async () => {
    const { id } = await pause("600");
    accept();
    stage.engine.patch(id, { enabled: false });
    stage.engine.patch(id, { enabled: true });
    const other = hook();
    const end = stage.clock.now() + 600 * second;
    emit();
    await stage.count(other.id, "pending", 1);
    stage.clock.advance(600 * second - 1);
    stage.clock.advance(1);
    for (const webhookId of [id, other.id]) {
      await stage.count(webhookId, "delivered", 1);
      const [delivery] = stage.engine.deliveries(webhookId, "delivered", { offset: 0, limit: 1 }).rows;
      expect(delivery?.attempts.at(-1)?.at).to.equal(end);
    }
  });

  it("is kept no longer than until the target answers otherwise", async () => {
    const { id } = await pause("600");
    expect(stage.environment.store.pause(receiver.url)?.length).to.equal(600 * second);
    accept();
    stage.clock.advance(600 * second);
    await stage.reaches(id, 1, "delivered");
    expect(stage.environment.store.pause(receiver.url)).to.equal(undefined);
  });

  it("is forgotten an hour after its end where the target is never asked again", async () => {
    const { id } = await pause("600");
    stage.engine.remove(id);
    stage.clock.advance(600 * second + hour);
    await stage.restart();
    expect(stage.environment.store.pause(receiver.url)?.length).to.equal(600 * second);
    await restart(minute);
    await stage.restart();
    expect(stage.environment.store.pause(receiver.url)).to.equal(undefined);
  });
});
