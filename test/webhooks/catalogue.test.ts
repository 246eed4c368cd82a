import { expect } from "chai";
import { Webhook as Verifier } from "standardwebhooks";
import type { Condition, WebhookDraft } from "../../types/webhooks.js";
import { refusalOf } from "../fixtures/refusal.js";
import { knownEvents } from "../../src/follow/event-catalogue.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { createStage, type Stage } from "./stage.js";

const ownEvents = ["webhook.disabled", "webhook.failing", "webhook.enabled", "delivery.dead"];

describe("the webhook registry", () => {
  let stage: Stage;
  const target = "https://example.com/hook";
  const draft: WebhookDraft = { event: "block.forged", target };

  beforeEach(async () => {
    stage = await createStage({ events: ["fork.happened"] });
  });

  it("keeps what it was given, and shows the secret only once", () => {
    const conditions: Condition[] = [
      { key: "height", condition: "between", value: { min: 1, max: 12500000000000000001n } },
      { key: "asset.votes.0", condition: "truthy" },
    ];
    const created = stage.engine.create({ ...draft, conditions, match: "all", enabled: "false" });
    const { token, secret, ...shown } = created;
    expect(shown).to.deep.equal({
      id: 1,
      event: "block.forged",
      events: ["block.forged"],
      target,
      enabled: false,
      conditions,
      match: "all",
      confirmations: 0,
      order: "first",
      batch: null,
      rate: null,
      headers: {},
      description: "",
      tags: [],
      signature: "v1",
      cursor: "genesis",
      behind: 0,
      createdAt: stage.clock.now(),
      failingSince: null,
      disabledBecause: null,
      pausedUntil: null,
    });
    expect(secret).to.equal(`whsec_${Buffer.from(token, "hex").toString("base64")}`);
    expect(stage.engine.get(1)).to.deep.equal(shown);
    expect(stage.engine.list({ offset: 0, limit: 10 })).to.deep.equal({ rows: [shown], total: 1 });
  });

  it("is the same for the same key, with whole numbers of any size, also after it was changed; only what cannot be told again is kept", () => {
    const conditions: Condition[] = [
      { key: "amount", condition: "in", value: [2n ** 70n, "text", ...Array.from({ length: 1_000 }, (_unused, index) => `A${index}`)] },
      { key: "amount", condition: "eq", value: 2n ** 70n },
    ];
    const first = stage.engine.create({ ...draft, conditions }, "key");
    expect(first.conditions).to.deep.equal(conditions);
    stage.engine.patch(first.id, { conditions: [] });
    const again = stage.engine.create({ ...draft, conditions }, "key");
    expect(again).to.deep.equal(first);
    expect(Object.keys(again)).to.deep.equal(Object.keys(first));
    expect(stage.environment.store.keptReply("key", 0)?.reply.length).to.be.below(1_000);
    expect(stage.engine.list({ offset: 0, limit: 10 }).total).to.equal(1);
  });

  it("is the same after a restart, and never reuses an id", async () => {
    stage.engine.create(draft);
    stage.engine.create(draft);
    stage.engine.remove(2);
    await stage.restart();
    expect(stage.engine.list({ offset: 0, limit: 10 }).rows.map(({ id }) => id)).to.deep.equal([1]);
    expect(stage.engine.create(draft).id).to.equal(3);
  });

  it("accepts as many usual patterns as there may be conditions", () => {
    for (const value of ["^[A-Z]{1,40}$", "(\\d{1,3}\\.){3}\\d{1,3}"]) {
      const conditions: Condition[] = Array.from({ length: 100 }, () => ({ key: "a", condition: "regexp", value }));
      expect(stage.engine.create({ ...draft, conditions }).conditions).to.have.length(100);
    }
  });

  it("is not extended beyond its limit, and keeps what it has when that is lowered", async () => {
    await stage.restart({ maxWebhooks: 2 });
    for (const id of [1, 2]) expect(stage.engine.create(draft).id).to.equal(id);
    expect(await refusalOf(() => stage.engine.create(draft))).to.include({ code: "WEBHOOKS_FULL", status: 409 });
    await stage.restart({ maxWebhooks: 1 });
    stage.engine.replace(2, { ...draft, enabled: false });
    expect(stage.engine.list({ offset: 0, limit: 9 }).rows.map(({ enabled }) => enabled)).to.deep.equal([true, false]);
    for (const id of [1, 2]) stage.engine.remove(id);
    expect(stage.engine.create(draft).id).to.equal(3);
  });

  it("replaces everything but the id, the token and the creation time, using the defaults for what is left out", () => {
    const conditions: Condition[] = [{ key: "a", condition: "eq", value: 1 }];
    const { token, createdAt } = stage.engine.create({ ...draft, enabled: false, conditions, match: "all" });
    stage.engine.replace(1, { event: "peer.added", target: "http://example.org/" });
    expect(stage.engine.get(1)).to.deep.include({
      event: "peer.added",
      target: "http://example.org/",
      enabled: true,
      conditions: [],
      match: "any",
      createdAt,
    });
    expect(stage.environment.store.webhook(1)?.token).to.equal(token);
  });

  it("does not show a webhook the deliveries of another", async () => {
    stage.engine.create(draft);
    stage.engine.create(draft);
    stage.engine.ping(1);
    expect(await refusalOf(() => stage.engine.delivery(2, 1))).to.include({ status: 404, message: "Delivery not found" });
  });

  it("accepts every known event and those that the host declares", () => {
    for (const event of [...Object.keys(knownEvents), "fork.happened"]) expect(stage.engine.create({ ...draft, event }).event).to.equal(event);
    expect(stage.engine.events().map(({ event }) => event)).to.deep.equal([...Object.keys(knownEvents), "fork.happened", ...ownEvents]);
  });

  const condition = (changed: object): Partial<WebhookDraft> => ({ conditions: [{ key: "a", condition: "eq", value: 1, ...changed }] });
  for (const [what, changed, key, message] of [
    ["an unknown event", { event: "block.lost" }, "event", /^"event" must be one of block\.applied, .*fork\.happened, /],
    ["the ping event", { event: "ping" }, "event", /must be one of/],
    ["an inherited property name as the event", { event: "constructor" }, "event", /must be one of/],
    ["a target that is not a URL", { target: "nonsense" }, "target", /must be an http or https URL/],
    ["a target with a special address", { target: "http://10.0.0.1/" }, "target", /must not be the special address 10\.0\.0\.1/],
    ["a target with a password", { target: "http://a:b@example.com" }, "target", /user name or password/],
    ["no target", { target: undefined }, "target", /is required/],
    ["an unknown operator", condition({ condition: "like" }), "conditions.0.condition", /must be one of between, contains, eq/],
    ["an inherited property name as the operator", condition({ condition: "toString" }), "conditions.0.condition", /must be one of/],
    ["an empty key", condition({ key: "" }), "conditions.0.key", /must be a string of 1 to 200 characters/],
    ["a pattern that does not compile", condition({ condition: "regexp", value: "[" }), "conditions.0.value", /does not compile: .*missing closing/],
    ["a pattern that is too large", condition({ condition: "regexp", value: "(x{1000})".repeat(111) }), "conditions.0.value", /is too large: all patterns together may compile to 10000 instructions/],
    ["patterns that are too large together", { conditions: Array.from({ length: 11 }, () => ({ key: "a", condition: "regexp", value: "x{1000}" })) }, "conditions.9.value", /is too large/],
    ["a value that is too long", condition({ value: "x".repeat(49_999) }), "conditions.0.value", /is too long: the values of all conditions together may have 50000 characters as JSON/],
    ["values that are too long together", { conditions: Array.from({ length: 6 }, () => ({ key: "a", condition: "truthy", value: [10n ** 9_000n] })) }, "conditions.5.value", /is too long/],
    ["a condition that is none", { conditions: [null] }, "conditions.0", /must be object/],
    ["a pattern that is not a string", condition({ condition: "regexp", value: 1 }), "conditions.0.value", /regular expression/],
    ["a range without a maximum", condition({ condition: "between", value: { min: 1 } }), "conditions.0.value", /must be \{min, max\}/],
    ["a range that is not an object", condition({ condition: "not-between", value: 5 }), "conditions.0.value", /must be \{min, max\}/],
    ["a comparison with a list", condition({ condition: "gt", value: [1] }), "conditions.0.value", /must be a number or a string/],
    ["a comparison without a value", condition({ condition: "eq", value: undefined }), "conditions.0.value", /is required/],
    ["101 conditions", { conditions: Array.from({ length: 101 }, () => ({ key: "a", condition: "truthy" })) }, "conditions", /more than 100/],
    ["an unknown value of match", { match: "some" }, "match", /must be one of any, all/],
    ["an invalid value of enabled", { enabled: "yes" }, "enabled", /must be true or false/],
    ["negative confirmations", { event: "block.applied", confirmations: -1 }, "confirmations", /whole number from 0 to 100000, or "final"/],
    ["a pattern of names that no event has", { events: ["lost.*"] }, "events.0", /must be a pattern such as transaction\.\*, or one of/],
    ["an empty list of events", { events: [] }, "events", /list of 1 to 100 names/],
    ["an unknown order", { order: "last" }, "order", /must be one of first, strict, none/],
    ["a batch that is too large", { batch: { size: 101, wait: 0 } }, "batch", /1 to 100 events, 0 to 60000 milliseconds/],
    ["a rate of nothing", { rate: 0 }, "rate", /above 0/],
    ["headers that are none", { headers: null }, "headers", /must be an object/],
    ["a header of HTTP itself", { headers: { "Content-Type": "text/plain" } }, "headers.Content-Type", /is reserved for HTTP or the signature/],
    ["a header of the signature", { headers: { "Webhook-Id": "mine" } }, "headers.Webhook-Id", /is reserved for HTTP or the signature/],
    ["a header with a line break", { headers: { "x-key": "a\r\nb: c" } }, "headers.x-key", /printable characters/],
    ["a header that is given twice", { headers: { "X-A": "1", "x-a": "2" } }, "headers.x-a", /is given twice/],
    ["an empty tag", { tags: ["a", ""] }, "tags.1", /must be a string of 1 to 1000 characters/],
    ["21 tags", { tags: Array.from({ length: 21 }, String) }, "tags", /must be a list of at most 20 strings/],
    ["an unknown signature", { signature: "v2" }, "signature", /must be one of v1, v1a/],
    ["a place that is none", { from: "yesterday" }, "from", /must be tip, genesis, a height or a cursor/],
    ["a list of addresses that is none", condition({ condition: "in", value: "A" }), "conditions.0.value", /must be a list of at most 100000 numbers and strings/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const refusal = await refusalOf(() => stage.engine.create({ ...draft, ...changed } as WebhookDraft));
      expect(refusal?.status).to.equal(400);
      expect(refusal?.message).to.match(message);
      expect(refusal?.validation).to.deep.equal({ source: "payload", keys: [key] });
      expect(stage.engine.list({ offset: 0, limit: 1 }).total).to.equal(0);
    });
  }

  describe("with a receiver", () => {
    let receiver: Receiver;
    beforeEach(async () => {
      receiver = await createReceiver();
    });

    it("signs with the old and the new secret for a day after a rotation, then with the new one alone", async () => {
      const first = stage.engine.create({ ...draft, target: receiver.url });
      const second = stage.engine.rotate(1);
      expect(second.token).not.to.equal(first.token);
      const signatures = async (): Promise<string[]> => {
        const count = receiver.received.length + 1;
        stage.events.emit("block.forged", {});
        return String((await receiver.until(count))[count - 1]?.headers["webhook-signature"]).split(" ");
      };
      const signedBy = (secret: string): string => {
        const last = receiver.received.at(-1);
        const time = new Date(Number(last?.headers["webhook-timestamp"]) * 1000);
        return new Verifier(secret).sign(String(last?.headers["webhook-id"]), time, last?.body ?? "");
      };
      expect(await signatures()).to.deep.equal([signedBy(second.secret), signedBy(first.secret)]);
      expect(receiver.received.at(-1)?.headers.authorization).to.equal(second.token.slice(0, 32));
      await stage.count(1, "delivered", 1);

      stage.clock.advance(24 * 3_600_000 - 1);
      expect(await signatures()).to.deep.equal([signedBy(second.secret), signedBy(first.secret)]);
      await stage.count(1, "delivered", 2);
      stage.clock.advance(1);
      expect(await signatures()).to.deep.equal([signedBy(second.secret)]);
    });

    it("signs with at most the ten newest secrets, however often it rotates them", async () => {
      stage.engine.create({ ...draft, target: receiver.url });
      const secrets = Array.from({ length: 12 }, () => stage.engine.rotate(1).secret);
      stage.events.emit("block.forged", {});
      const [{ headers, body }] = (await receiver.until(1)) as [Received];
      const time = new Date(Number(headers["webhook-timestamp"]) * 1000);
      const newest = secrets.slice(-10).reverse();
      expect(headers["webhook-signature"]).to.equal(newest.map((secret) => new Verifier(secret).sign(String(headers["webhook-id"]), time, body)).join(" "));
    });

    it("sends pending deliveries to the new target after a webhook is replaced", async () => {
      receiver.answer = ({ path }, response) => response.writeHead(path === "/new" ? 200 : 500).end();
      stage.engine.create({ ...draft, target: `${receiver.url}/old` });
      stage.events.emit("block.forged", {});
      await stage.reaches(1, 1, "retrying");
      stage.engine.replace(1, { ...draft, target: `${receiver.url}/new` });
      stage.clock.advance(5_000);
      await stage.reaches(1, 1, "delivered");
      expect(receiver.received.map(({ path }) => path)).to.deep.equal(["/old", "/new"]);
    });

    it("sends a ping once, at once, and counts nothing of its answer: neither a failure nor a pause, nor as what 410 says", async () => {
      stage.engine.create({ ...draft, target: receiver.url });
      for (const status of [500, 429, 410]) {
        receiver.answer = (_request, response) => response.writeHead(status, { "Retry-After": "600" }).end();
        const { id } = stage.engine.ping(1);
        await stage.reaches(1, id, "dead");
        expect(stage.engine.delivery(1, id).attempts.map((attempt) => attempt.status)).to.deep.equal([status]);
        expect(stage.engine.get(1)).to.include({ enabled: true, failingSince: null });
      }
      receiver.answer = (_request, response) => response.end();
      stage.events.emit("block.forged", {});
      // The target is not paused: no time passes here.
      await stage.count(1, "delivered", 1);
    });

    it("sends a ping that is sent again as one, too, though its target is paused: once, at once, and counts nothing of its answer", async () => {
      stage.engine.create({ ...draft, target: receiver.url });
      receiver.answer = (_request, response) => response.writeHead(500).end();
      const { id } = stage.engine.ping(1);
      await stage.reaches(1, id, "dead");
      receiver.answer = (_request, response) => response.writeHead(429, { "Retry-After": "600" }).end();
      stage.events.emit("block.forged", {});
      await stage.reaches(1, id + 1, "retrying");
      const { failingSince } = stage.engine.get(1);
      stage.clock.advance(60_000);
      for (const [index, status] of [500, 429, 410, 204, 500].entries()) {
        receiver.answer = (_request, response) => response.writeHead(status, { "Retry-After": "3600" }).end();
        expect(stage.engine.redeliver(1, id)).to.include({ state: "pending", dueAt: null });
        await stage.attempted(1, id, index + 2);
        expect(stage.engine.delivery(1, id)).to.include({ state: status === 204 ? "delivered" : "dead", dueAt: null, attemptCount: index + 2 });
        expect(stage.engine.get(1)).to.include({ enabled: true, failingSince });
      }
      // The target is paused for as long as it asked the delivery, and no other, to wait.
      receiver.answer = (_request, response) => response.end();
      stage.clock.advance(539_999);
      stage.clock.advance(1);
      const { attempts } = await stage.reaches(1, id + 1, "delivered");
      expect((attempts[1]?.at ?? 0) - (attempts[0]?.at ?? 0)).to.equal(600_000);
    });

    it("does not send a ping of a disabled webhook again", async () => {
      stage.engine.create({ ...draft, target: receiver.url });
      const { id } = stage.engine.ping(1);
      await stage.reaches(1, id, "delivered");
      stage.engine.patch(1, { enabled: false });
      expect(await refusalOf(() => stage.engine.redeliver(1, id))).to.include({ status: 400 });
      expect(stage.engine.delivery(1, id).state).to.equal("delivered");
    });

    it("does not recover a ping", async () => {
      stage.engine.create({ ...draft, target: receiver.url });
      receiver.answer = (_request, response) => response.writeHead(500).end();
      await stage.reaches(1, stage.engine.ping(1).id, "dead");
      expect(await stage.engine.recover(1, { since: 0, until: Infinity })).to.equal(0);
      await stage.engine.settled();
      expect(stage.engine.deliveries(1, "dead", { offset: 0, limit: 1 }).total).to.equal(1);
    });

    it("does not ping a disabled webhook", async () => {
      stage.engine.create({ ...draft, enabled: false });
      expect(await refusalOf(() => stage.engine.ping(1))).to.include({ status: 400 });
    });

    it("neither records nor sends deliveries for a disabled webhook", async () => {
      stage.engine.create({ ...draft, target: receiver.url, enabled: false });
      stage.engine.create({ ...draft, target: receiver.url });
      stage.events.emit("block.forged", {});
      await stage.count(2, "delivered", 1);
      expect(stage.engine.deliveries(1, undefined, { offset: 0, limit: 1 }).total).to.equal(0);
      expect(receiver.received).to.have.length(1);
    });

    it("sends what was not delivered when a webhook was disabled, under the same id, when it is enabled again", async () => {
      receiver.answer = (_request, response) => response.writeHead(500).end();
      stage.engine.create({ ...draft, target: receiver.url });
      stage.events.emit("block.forged", { n: 1 });
      await stage.reaches(1, 1, "retrying");
      stage.engine.replace(1, { ...draft, target: receiver.url, enabled: false });
      stage.clock.advance(3_600_000);
      expect(receiver.received).to.have.length(1);
      receiver.answer = (_request, response) => response.end();
      stage.engine.replace(1, { ...draft, target: receiver.url });
      await stage.reaches(1, 2, "delivered");
      expect(receiver.received[1]?.headers["webhook-id"]).to.equal(receiver.received[0]?.headers["webhook-id"]);
    });

    it("deletes the deliveries of a removed webhook in the background", async () => {
      receiver.answer = () => undefined;
      stage.engine.create({ ...draft, target: receiver.url });
      for (let count = 0; count < 20; count++) stage.events.emit("block.forged", { count });
      await receiver.until(1);
      stage.engine.remove(1);
      stage.clock.advance(1_000);
      expect(stage.environment.store.delivery(1, 1)).to.equal(undefined);
      expect(stage.environment.store.message(1)).to.equal(undefined);
      expect(stage.environment.store.message(20)).to.equal(undefined);
    });
  });

  describe("a dry run", () => {
    const conditions: Condition[] = [{ key: "height", condition: "gt", value: 5 }];

    it("finds nothing at a key that a host's sample sets to undefined", async () => {
      const [result] = await stage.engine.dryRun({ conditions, payload: { height: undefined } });
      expect(result).to.include({ matches: false });
      expect(result?.conditions[0]).to.include({ holds: false, reason: '"height" does not fulfil "is greater than the value" (5): the payload has nothing there' });
      expect(result?.conditions[0]).not.to.have.property("actual");
    });

    it("names the key that was meant where somebody wrote data in front of it", async () => {
      const [result] = await stage.engine.dryRun({ conditions: [{ key: "data.height", condition: "gt", value: 5 }], payload: { height: 6 } });
      expect(result?.conditions[0]?.reason).to.match(/: the payload has nothing there\. Write "height"; keys are relative to "data"$/);
    });

    it("evaluates the last real payloads of an event, newest first, even if no webhook subscribed to it", async () => {
      for (const height of [4, 5, 6]) stage.events.emit("block.forged", { height });
      const expected = [
        [6, true],
        [5, false],
      ];
      await stage.engine.settled();
      const results = () => stage.engine.dryRun({ event: "block.forged", conditions, last: 2 });
      expect((await results()).map(({ payload, matches }) => [(payload as { height: number }).height, matches])).to.deep.equal(expected);
      expect((await results())[0]?.timestamp).to.equal(stage.clock.now());
      await stage.restart();
      expect((await results()).map(({ payload, matches }) => [(payload as { height: number }).height, matches])).to.deep.equal(expected);
    });

    it("reaches back a hundred payloads for each event", async () => {
      for (let height = 1; height <= 250; height++) stage.events.emit("block.forged", { height });
      await stage.engine.settled();
      const results = await stage.engine.dryRun({ event: "block.forged", conditions: [], last: 100 });
      expect(results.map(({ payload }) => (payload as { height: number }).height)).to.deep.equal(Array.from({ length: 100 }, (_unused, index) => 250 - index));
      expect(stage.environment.store.recent("block.forged", 1_000)).to.have.length(100);
    });

    it("combines conditions with `any` by default, and with `all` on request", async () => {
      const both: Condition[] = [...conditions, { key: "absent", condition: "truthy" }];
      expect((await stage.engine.dryRun({ conditions: both, payload: { height: 6 } }))[0]?.matches).to.equal(true);
      expect((await stage.engine.dryRun({ conditions: both, match: "all", payload: { height: 6 } }))[0]?.matches).to.equal(false);
    });

    it("tries patterns on long texts in a thread, with the same result", async () => {
      const long = `${"ab".repeat(1_000)}c`;
      const patterns = (key: string): Condition[] => ["[ab]*c$", "[ab]*d$", "^$"].map((value) => ({ key, condition: "regexp", value }));
      const [result] = await stage.engine.dryRun({ conditions: [...patterns("long"), ...patterns("list.*"), ...patterns("none")], payload: { long, list: ["c", long, "", 5] } });
      expect(result?.conditions.map(({ holds }) => holds)).to.deep.equal([true, false, false, true, false, true, false, false, false]);
      expect(result?.conditions[1]?.reason).to.match(/^"long" does not fulfil "has a part that matches the pattern" \("\[ab\]\*d\$"\): it is "abab/);
    });

    it("refuses a sample that is longer than the payloads that are kept, or nested more deeply than can be written", async () => {
      const deep = JSON.parse("[".repeat(30_000) + "]".repeat(30_000)) as unknown;
      // Node.js 26 writes it.
      const isWritten = Number(process.versions.node.split(".")[0]) >= 26;
      if (isWritten) expect(await stage.engine.dryRun({ conditions, payload: deep })).to.have.length(1);
      for (const payload of ["x".repeat(65_535), ...(isWritten ? [] : [deep])]) {
        const refusal = await refusalOf(stage.engine.dryRun({ conditions, payload }));
        expect(refusal).to.include({ status: 400, message: '"payload" must not have more than 65536 characters as JSON' });
        expect(refusal?.validation).to.deep.equal({ source: "payload", keys: ["payload"] });
      }
      expect(await stage.engine.dryRun({ conditions, payload: "x".repeat(65_534) })).to.have.length(1);
    });

    it("refuses the conditions and events that a webhook would be refused for, and a run without a payload or event", async () => {
      expect(await refusalOf(stage.engine.dryRun({ conditions }))).to.include({ status: 400 });
      expect(await refusalOf(stage.engine.dryRun({ event: "nothing", conditions }))).to.include({ status: 400 });
      expect(await refusalOf(stage.engine.dryRun({ conditions: [{ key: "", condition: "eq", value: 1 }], payload: 1 }))).to.include({ status: 400 });
    });
  });
});
