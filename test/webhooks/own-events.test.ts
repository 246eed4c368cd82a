import { expect } from "chai";
import type { Webhook, WebhookDraft } from "../../types/webhooks.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, type Stage } from "./stage.js";

const day = 24 * 3_600_000;
const page = { offset: 0, limit: 100 };

describe("events about webhooks themselves", () => {
  let receiver: Receiver;
  let stage: Stage;
  /** Path -> status; 200 where there is none. */
  let answers: Map<string, number>;

  beforeEach(async () => {
    receiver = await createReceiver();
    answers = new Map();
    receiver.answer = ({ path }, response) => response.writeHead(answers.get(path) ?? 200).end();
  });

  const open = async (...given: Parameters<typeof createStage>): Promise<void> => {
    stage = await createStage(...given);
  };
  const hook = (path: string, draft: Partial<WebhookDraft> = { event: "peer.added" }): Webhook => stage.engine.create({ target: `${receiver.url}${path}`, ...draft });
  const operator = (): Webhook => hook("/operator", { events: ["webhook.*", "delivery.dead"] });
  /** What a path was told, each event with its data. */
  const told = (path = "/operator"): [string, unknown][] => receiver.received.filter((one) => one.path === path).map(({ json }) => [json.event, json.data]);
  const fail = async ({ id }: Webhook, path: string): Promise<void> => {
    answers.set(path, 500);
    stage.events.emit("peer.added", {});
    await stage.attempted(id, 1, 1);
  };

  it("tell those that ask for them that a webhook fails, a day before it is disabled, that it is, and that it is enabled again", async () => {
    await open({ disableAfter: 5 * day, schedule: [4 * day - 1, 1, day - 1, 1, day] });
    const asked = operator();
    const other = hook("/other", { event: "peer.removed" });
    const failing = hook("/failing");
    await fail(failing, "/failing");

    stage.clock.advance(4 * day - 1);
    await stage.attempted(failing.id, 1, 2);
    expect(told(), "not sooner").to.deep.equal([]);
    stage.clock.advance(1);
    await stage.attempted(failing.id, 1, 3);
    await stage.count(asked.id, "delivered", 1);
    expect(told()).to.deep.equal([["webhook.failing", { webhook: failing.id, reason: "every attempt fails; it will be disabled in a day" }]]);

    // Over a restart, too, it is told once.
    await stage.restart();
    stage.clock.advance(day - 1);
    await stage.attempted(failing.id, 1, 4);
    expect(stage.engine.get(failing.id).enabled).to.equal(true);
    stage.clock.advance(1);
    await stage.count(asked.id, "delivered", 2);
    expect(told().slice(1)).to.deep.equal([["webhook.disabled", { webhook: failing.id, reason: "every attempt failed" }]]);
    expect(stage.engine.get(failing.id)).to.include({ enabled: false, disabledBecause: "failing" });

    answers.clear();
    stage.engine.patch(failing.id, { enabled: true });
    await stage.count(asked.id, "delivered", 3);
    expect(told().slice(2)).to.deep.equal([["webhook.enabled", { webhook: failing.id, reason: "a client enabled it" }]]);
    await stage.count(failing.id, "delivered", 1);
    expect([told("/other"), told("/failing").map(([event]) => event)]).to.deep.equal([[], ["peer.added", "peer.added", "peer.added", "peer.added", "peer.added", "peer.added"]]);
    expect(stage.engine.deliveries(other.id, undefined, page).total).to.equal(0);
  });

  it("tell of a webhook whose target answers 410, and to itself only that it is enabled again", async () => {
    await open();
    const asked = operator();
    const gone = hook("/gone", { events: ["peer.added", "webhook.*"] });
    answers.set("/gone", 410);
    stage.events.emit("peer.added", {});
    await stage.count(asked.id, "delivered", 1);
    // Its delivery is not dead: it is sent once the webhook is enabled.
    expect(told()).to.deep.equal([["webhook.disabled", { webhook: gone.id, reason: "the target answered 410" }]]);
    answers.clear();
    stage.engine.patch(gone.id, { enabled: true });
    await stage.count(asked.id, "delivered", 2);
    await stage.count(gone.id, "delivered", 2);
    expect(told("/gone").map(([event]) => event)).to.have.members(["peer.added", "peer.added", "webhook.enabled"]);
  });

  it("tell others of a webhook that a client disables, and enables", async () => {
    await open();
    const asked = operator();
    const { id } = hook("/other", { event: "webhook.disabled" });
    for (const changes of [{ enabled: false }, { description: "still off" }, { enabled: true }]) stage.engine.patch(id, changes);
    await stage.count(asked.id, "delivered", 2);
    expect(told()).to.deep.equal([
      ["webhook.disabled", { webhook: id, reason: "a client disabled it" }],
      ["webhook.enabled", { webhook: id, reason: "a client enabled it" }],
    ]);
    expect(told("/other")).to.deep.equal([]);
  });

  it("are not put off by a client that changes something else of a webhook that fails", async () => {
    await open({ disableAfter: 5 * day, schedule: [5 * day - 1, 1] });
    const failing = hook("/failing");
    await fail(failing, "/failing");
    const { failingSince } = stage.engine.get(failing.id);
    expect(failingSince).to.equal(stage.clock.now());
    stage.clock.advance(5 * day - 1);
    await stage.attempted(failing.id, 1, 2);
    expect(stage.engine.patch(failing.id, { description: "of the ledger" })).to.include({ failingSince, enabled: true });
    stage.clock.advance(1);
    await stage.attempted(failing.id, 1, 3);
    expect(stage.engine.get(failing.id)).to.include({ enabled: false, disabledBecause: "failing" });
    for (const changes of [{ enabled: true }, { target: `${receiver.url}/elsewhere` }]) {
      expect(stage.engine.patch(failing.id, changes).failingSince).to.equal(null);
    }
  });

  it("tell of a delivery that is given up, with its event and the reason; only of those that match the conditions", async () => {
    await open({ schedule: [1_000] });
    const asked = operator();
    const failing = hook("/failing");
    const [mine, others] = [failing.id, failing.id + 1].map((webhook) => hook(`/${webhook}`, { event: "delivery.dead", conditions: [{ key: "webhook", condition: "eq", value: webhook }] }));
    await fail(failing, "/failing");
    expect(told(), "it is tried again").to.deep.equal([]);
    stage.clock.advance(1_000);
    await stage.count(asked.id, "delivered", 1);
    expect(told()).to.deep.equal([["delivery.dead", { webhook: failing.id, delivery: 1, event: "peer.added", reason: "The target answered 500." }]]);
    await stage.count(mine!.id, "delivered", 1);
    expect(stage.engine.deliveries(others!.id, undefined, page).total).to.equal(0);
    const [{ headers, body }] = receiver.received.filter((one) => one.path === "/operator") as [Receiver["received"][0]];
    expect(headers["webhook-id"]).to.match(/^msg_\d+_[0-9a-f]{32}$/);
    expect(JSON.parse(body)).to.include({ block: null });
  });

  it("are not told of their own deliveries that are given up: that would have no end", async () => {
    await open({ schedule: [] });
    const [asked, second] = [operator(), hook("/second", { event: "delivery.dead" })];
    for (const path of ["/operator", "/second"]) answers.set(path, 500);
    const failing = hook("/failing");
    await fail(failing, "/failing");
    await stage.count(asked.id, "dead", 1);
    await stage.count(second.id, "dead", 1);
    answers.clear();
    stage.events.emit("peer.added", {});
    await stage.count(failing.id, "delivered", 1);
    expect([asked.id, second.id].map((id) => stage.engine.deliveries(id, undefined, page).total)).to.deep.equal([1, 1]);
  });
});
