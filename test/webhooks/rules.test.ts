import type { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import { expect } from "chai";
import { Webhook as Verifier } from "standardwebhooks";
import type { BlockData } from "../../types/events.js";
import type { Webhook, WebhookDraft, WebhookSecret } from "../../types/webhooks.js";
import { createChainRules } from "../../src/chain/rules.js";
import { slowFrom, slowShare } from "../../src/webhooks/deliver/take.js";
import { loadChain } from "../data/read.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { createScriptedChain, type ScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, type Stage } from "./stage.js";

const chain = loadChain("core3-testnet-a");
const rules = createChainRules(chain.network);
const height = 12;
const parsed = chain.blocks.slice(0, height + 4).map((block) => rules.parseBlock({ ...block, transactions: [], numberOfTransactions: 0 }));
type Parsed = (typeof parsed)[0];
const [one, two, three, four] = parsed.slice(height) as [Parsed, Parsed, Parsed, Parsed];
const day = 86_400_000;
const page = { offset: 0, limit: 100 };

interface Sent extends BlockData {
  name: string;
  event: string;
  reverts: string | undefined;
}

describe("what a webhook asks for", () => {
  let receiver: Receiver;
  let stage: Stage;
  let scripted: ScriptedChain;

  const open = async (options: Parameters<typeof createStage>[0] = {}, needs: Parameters<typeof createStage>[1] = {}): Promise<void> => {
    scripted = createScriptedChain(parsed.slice(0, height), () => stage.clock.now());
    stage = await createStage(options, { changes: scripted.changes, ...needs });
  };
  const hook = (draft: Partial<WebhookDraft>, path = ""): Webhook & WebhookSecret => stage.engine.create({ event: "block.applied", target: `${receiver.url}${path}`, ...draft });
  const idOf = ({ headers }: Received): string => String(headers["webhook-id"]);

  beforeEach(async () => {
    receiver = await createReceiver();
  });

  describe("a batch", () => {
    const eventsOf = ({ body }: Received): Sent[] =>
      (JSON.parse(body) as { events: { "webhook-id": string; event: string; data: BlockData; reverts?: string }[] }).events.map((sent) => ({ ...sent.data, event: sent.event, name: sent["webhook-id"], reverts: sent.reverts }));
    const namesOf = (received: Received): string[] => eventsOf(received).map((sent) => `${sent.event} ${sent.height}`);

    it("of which one block is reverted is tried again without it, under another id; the reversal says what it takes back", async () => {
      await open({ schedule: [day, day, day] });
      const { id, secret } = hook({ events: ["block.applied", "block.reverted"], batch: { size: 3, wait: 0 } });
      let refused = 2;
      const isOfApplied = (received: Received): boolean => namesOf(received).includes(`block.applied ${height + 1}`);
      receiver.answer = (received, response) => response.writeHead(isOfApplied(received) && refused-- > 0 ? 500 : 200).end();
      // Nothing is sent before all three are there.
      stage.engine.patch(id, { batch: { size: 3, wait: 60_000 } });
      for (const full of [one, two, three]) scripted.apply(full);
      await stage.count(id, "retrying", 3);
      stage.engine.patch(id, { batch: { size: 3, wait: 0 } });
      scripted.revert();
      await stage.count(id, "delivered", 1);
      for (const count of [2, 3]) {
        stage.clock.advance(day);
        await stage.attempted(id, 1, count);
      }
      await stage.count(id, "delivered", 3);

      const [first, ...rest] = receiver.received.filter(isOfApplied) as [Received, Received, Received];
      expect([first, ...rest].map(namesOf)).to.deep.equal([[1, 2, 3], [1, 2], [1, 2]].map((places) => places.map((place) => `block.applied ${height + place}`)));
      expect(rest.map(eventsOf).map((events) => events.map(({ name }) => name))).to.deep.equal([1, 2].map(() => eventsOf(first).slice(0, 2).map(({ name }) => name)));
      const ids = [first, ...rest].map(idOf);
      expect(ids[1]).not.to.equal(ids[0]);
      expect(ids[2]).to.equal(ids[1]);
      const signature = new Verifier(secret);
      for (const { body, headers } of receiver.received) expect(headers["webhook-signature"]).to.equal(signature.sign(String(headers["webhook-id"]), new Date(Number(headers["webhook-timestamp"]) * 1_000), body));

      const [reversal] = receiver.received.filter((received) => !isOfApplied(received)) as [Received];
      expect(eventsOf(reversal).map((sent) => [sent.event, sent.height, sent.reverts])).to.deep.equal([["block.reverted", height + 3, eventsOf(first)[2]?.name]]);
      expect(stage.engine.deliveries(id, undefined, page).rows.map(({ state }) => state).reverse()).to.deep.equal(["delivered", "delivered", "superseded", "delivered"]);
    });

    it("is tried again in its form though the webhook has no batches any more, and single deliveries in theirs though it has them since", async () => {
      await open({ schedule: [day, day] });
      const { id } = hook({ batch: { size: 3, wait: 60_000 } });
      let isDown = true;
      receiver.answer = (_received, response) => response.writeHead(isDown ? 500 : 200).end();
      for (const full of [one, two, three]) scripted.apply(full);
      await stage.count(id, "retrying", 3);
      stage.engine.patch(id, { batch: null });
      stage.clock.advance(day);
      for (const delivery of [1, 2, 3]) await stage.attempted(id, delivery, 2);
      expect(receiver.received.map(namesOf)).to.deep.equal([1, 2].map(() => [1, 2, 3].map((place) => `block.applied ${height + place}`)));

      scripted.apply(four);
      await stage.count(id, "retrying", 4);
      stage.engine.patch(id, { batch: { size: 3, wait: 0 } });
      isDown = false;
      stage.clock.advance(day);
      await stage.count(id, "delivered", 4);
      const single = receiver.received.filter(({ json }) => !("events" in json));
      expect(new Set(single.map(idOf)).size).to.equal(1);
      expect(single).to.have.length(2);
    });
  });

  describe("a rate", () => {
    /** Advances the clock that timers hang on; the rate goes by the real one. */
    const delivered = (id: number, count: number): Promise<true> =>
      eventually(() => {
        stage.clock.advance(5);
        return stage.engine.deliveries(id, "delivered", page).total >= count ? true : undefined;
      });

    const rate = 20;
    for (const [title, draft, count] of [
      ["holds for first attempts", {}, height],
      ["counts the events of a batch", { batch: { size: 4, wait: 0 } }, height - 3],
      ["holds where there is no order", { order: "none" }, height],
    ] as const) {
      it(`${title}: ${height} deliveries at ${rate} a second take as long as that says`, async () => {
        await open({ concurrencyPerTarget: 8 });
        const begun = performance.now();
        const { id } = hook({ from: "genesis", rate, ...draft });
        await delivered(id, height);
        // The last begins when those before it have had their time.
        expect(performance.now() - begun).to.be.at.least((count - 1) * (1_000 / rate));
      });
    }

    it("holds for retries, but neither for pings nor for another webhook of the target", async () => {
      await open({ schedule: Array.from({ length: 100 }, () => 1) });
      let refuses = true;
      const { id } = hook({ rate: 10 });
      receiver.answer = ({ json }, response) => response.writeHead(refuses && json.event === "block.applied" && (json.data as BlockData).height === height + 1 ? 500 : 200).end();
      const begun = performance.now();
      scripted.apply(one);
      await stage.attempted(id, 1, 1);
      const other = hook({ from: 5 });
      const ping = stage.engine.ping(id);
      await stage.reaches(id, ping.id, "delivered");
      await delivered(other.id, height - 5);
      await eventually(() => {
        stage.clock.advance(5);
        return stage.engine.delivery(id, 1).attemptCount >= 5 ? true : undefined;
      });
      refuses = false;
      await delivered(id, 2);
      const attempts = stage.engine.delivery(id, 1).attemptCount;
      expect(performance.now() - begun).to.be.at.least((attempts - 1) * 100);
    });
  });

  describe("a replay", () => {
    it("goes on over a restart where it was, under the same names, without gap, and beside the live events", async () => {
      await open({ window: 2 });
      const { id } = hook({ from: "genesis" });
      await stage.count(id, "delivered", height);
      const nameOf = new Map(receiver.received.map((received) => [(received.json.data as BlockData).height, idOf(received)]));
      const waiting: ServerResponse[] = [];
      receiver.answer = (_request, response) => void waiting.push(response);
      stage.engine.replay(id, { from: 3, to: 9 });
      await receiver.until(height + 1);
      await stage.restart();
      receiver.answer = (_request, response) => response.end();
      waiting.splice(0).forEach((response) => response.end());
      scripted.apply(one);
      await stage.count(id, "delivered", height + 8);
      const again = receiver.received.slice(height).filter(({ json }) => (json.data as BlockData).height <= height);
      const heights = again.map(({ json }) => (json.data as BlockData).height);
      // What was under way when the node stopped comes once more.
      expect(heights.filter((at) => at !== 3)).to.have.length(6);
      expect([...new Set(heights)].sort((a, b) => a - b)).to.deep.equal([3, 4, 5, 6, 7, 8, 9]);
      expect(again.map(idOf)).to.deep.equal(heights.map((at) => nameOf.get(at)));
      expect(receiver.received.filter(({ json }) => (json.data as BlockData).height === height + 1)).to.have.length(1);
      expect(stage.environment.store.progress(id).replays).to.deep.equal([]);
    });
  });

  describe("a target that two webhooks have", () => {
    it("is paused for both; another path of its origin is not", async () => {
      await open({ schedule: [5_000] });
      receiver.answer = ({ path }, response) => response.writeHead(path === "/busy" ? 429 : 200, { "retry-after": "60" }).end();
      const [a, b] = [hook({}, "/busy"), hook({}, "/busy")];
      const begun = stage.clock.now();
      scripted.apply(one);
      await stage.attempted(a.id, 1, 1);
      const free = hook({}, "/free");
      receiver.answer = (_request, response) => response.end();
      scripted.apply(two);
      await stage.count(free.id, "delivered", 1);
      stage.clock.advance(59_999);
      stage.clock.advance(1);
      for (const { id } of [a, b]) {
        await stage.count(id, "delivered", 2);
        const attempts = stage.engine.deliveries(id, "delivered", page).rows.flatMap((row) => row.attempts.map(({ at }) => at));
        expect(attempts.filter((at) => at !== begun)).to.deep.equal(attempts.filter((at) => at === begun + 60_000));
      }
      expect(receiver.received.filter(({ path }) => path === "/busy")).to.have.length(5);
    });

    it("is slow for both: what hangs there leaves places to others, whichever webhook it is of", async () => {
      const concurrency = 1;
      await open({}, { concurrency });
      const waiting: ServerResponse[] = [];
      const healthy = await createReceiver();
      receiver.answer = (_request, response) => void waiting.push(response);
      const a = hook({ match: "all", conditions: [{ key: "height", condition: "eq", value: height + 1 }] }, "/slow");
      scripted.apply(one);
      await receiver.until(1);
      const begun = performance.now();
      await eventually(() => (performance.now() - begun > slowFrom ? true : undefined));
      waiting.splice(0).forEach((response) => response.end());
      await stage.count(a.id, "delivered", 1);
      const b = hook({ from: "genesis", order: "none" }, "/slow");
      const places = (slowShare - 1) * concurrency;
      await receiver.until(1 + places);
      const c = stage.engine.create({ event: "block.applied", from: height, target: healthy.url });
      await stage.count(c.id, "delivered", 1);
      expect(waiting).to.have.length(places);
      receiver.answer = (_request, response) => response.end();
      waiting.splice(0).forEach((response) => response.end());
      await stage.count(b.id, "delivered", height + 1);
    });
  });
});
