import { expect } from "chai";
import { createLimit } from "../../src/webhooks/deliver/lanes/concurrency.js";
import { addWritten, createLanes, type Lane, lookAgain } from "../../src/webhooks/deliver/lanes/lanes.js";
import type { DeliveryRow, WebhookRow } from "../../types/webhook-store.js";
import { webhookRow } from "./webhook-row.js";

const row = (id: number, target: string, more: Partial<WebhookRow> = {}): WebhookRow => ({ ...webhookRow, id, target, ...more });
const waiting = (id: number): DeliveryRow => ({ id, webhookId: 1, messageId: 1, key: "msg", event: "peer.added", at: 0, state: "pending", dueAt: null, finishedAt: null, hold: null, failures: 0, attemptCount: 0, attempts: [] });
const [one, other, elsewhere] = ["http://a.example/1", "http://a.example/2", "http://b.example/"];

describe("the lanes of webhooks", () => {
  const limit = createLimit(100, 1_000);
  const underWay = new Map<number, number>();
  const pauseOf = (url: string) => (url === elsewhere ? { pausedUntil: 500, lastPause: 100 } : { pausedUntil: 0, lastPause: 0 });
  const create = () => createLanes({ ordered: true, limit, concurrencyPerTarget: 8, window: 1_000, underWay, isWithdrawn: (id) => id === 13, pauseOf });

  it("are those of enabled webhooks, each with all that it needs to begin with", () => {
    const lanes = create();
    const target = lanes.align(1, row(1, one));
    expect(lanes.align(2, row(2, one, { enabled: false }))).to.equal(undefined);
    expect([...lanes.ids()]).to.deep.equal([1]);
    const { isWithdrawn, mostReady, target: itsOwn, ...lane } = lanes.find(1) ?? expect.fail();
    expect(lane).to.deep.equal({ webhook: row(1, one), underWay, open: { count: 0, taken: 0 }, skipped: false, ready: [], passed: 0, more: 4, handed: { upTo: 0 }, nextDue: 0, mayAt: 0, batchSince: undefined });
    expect(lane.underWay).to.equal(underWay);
    expect(itsOwn).to.equal(target).and.equal(lanes.target(one));
    expect([isWithdrawn(13), isWithdrawn(12), mostReady()]).to.deep.equal([true, false, 256]);
    expect(lanes.find(2)).to.equal(undefined);
  });

  it("share a target by its URL, and an origin by scheme, host and port; all share the one limit", () => {
    const lanes = create();
    const [first, same, second, third] = [lanes.align(1, row(1, one)), lanes.align(2, row(2, one)), lanes.align(3, row(3, other)), lanes.align(4, row(4, elsewhere))];
    if (first === undefined || second === undefined || third === undefined) return expect.fail();
    expect(same).to.equal(first);
    expect([...first.lanes.keys()]).to.deep.equal([1, 2]);
    expect([...lanes.targets()]).to.deep.equal([first, second, third]);
    expect(second).not.to.equal(first);
    expect(second.origin).to.equal(first.origin);
    expect([first.origin.targets, third.origin.targets, third.origin.name]).to.deep.equal([2, 1, "http://b.example"]);
    for (const target of [first, second, third]) expect(target.limits).to.deep.equal([target.limit, target.origin.limit, limit]);
    expect([first.limit.most, first.origin.limit.most]).to.deep.equal([{ young: 8, all: 8 }, { young: 8, all: 128 }]);
    expect([first, third].map(({ pausedUntil, lastPause, wasSlow, firsts, last }) => [pausedUntil, lastPause, wasSlow, firsts, last])).to.deep.equal([[0, 0, false, 0, "retry"], [500, 100, false, 0, "retry"]]);
  });

  it("leave nothing of a target or an origin that no webhook leads to any more", () => {
    const lanes = create();
    const first = lanes.align(1, row(1, one)) ?? expect.fail();
    lanes.align(2, row(2, one));
    lanes.align(3, row(3, other));
    lanes.align(1, row(1, one, { enabled: false }));
    expect([...first.lanes.keys()]).to.deep.equal([2]);
    expect(lanes.target(one)).to.equal(first);
    lanes.align(2, undefined);
    expect([lanes.target(one), lanes.find(2), first.origin.targets]).to.deep.equal([undefined, undefined, 1]);
    expect([...lanes.targets()].map(({ url }) => url)).to.deep.equal([other]);
    // The origin is still that of the other target.
    expect(lanes.align(1, row(1, one))?.origin).to.equal(first.origin);
    lanes.align(1, undefined);
    lanes.align(3, undefined);
    expect([[...lanes.targets()], [...lanes.ids()]]).to.deep.equal([[], []]);
    expect(lanes.align(1, row(1, one))?.origin).not.to.equal(first.origin);
  });

  it("keep, where a webhook is changed, its target and what is open, and when its rate lets it send again", () => {
    const lanes = create();
    const target = lanes.align(1, row(1, one)) ?? expect.fail();
    const lane = lanes.find(1) ?? expect.fail();
    lane.mayAt = 77;
    lane.open.count = 3;
    lane.ready = [waiting(4), waiting(5)];
    target.firsts = 2;
    expect(lanes.align(1, row(1, one, { rate: 5 }))).to.equal(target);
    expect(lanes.find(1)).to.deep.include({ mayAt: 77, open: { count: 3, taken: 0 }, ready: [], webhook: row(1, one, { rate: 5 }) });
    expect([target.firsts, target.origin.targets, lanes.target(one)]).to.deep.equal([2, 1, target]);
    const moved = lanes.align(1, row(1, elsewhere)) ?? expect.fail();
    expect(lanes.find(1)).to.deep.include({ mayAt: 77, open: { count: 3, taken: 0 } });
    expect([lanes.find(1)?.target, lanes.target(one)]).to.deep.equal([moved, undefined]);
  });

  it("know what is open of a webhook that was disabled meanwhile, but not of one that was removed", () => {
    const lanes = create();
    lanes.align(1, row(1, one));
    const { open } = lanes.find(1) ?? expect.fail();
    lanes.align(1, row(1, one, { enabled: false }));
    expect(lanes.find(1)).to.equal(undefined);
    lanes.align(1, row(1, one));
    expect(lanes.find(1)?.open).to.equal(open);
    lanes.align(1, undefined);
    lanes.align(1, row(1, one));
    expect(lanes.find(1)?.open).not.to.equal(open);
  });

  it("say when the next retry is due after a time, which is never where there is none", () => {
    const lanes = create();
    expect(lanes.nextDue(0)).to.equal(Infinity);
    for (const [id, nextDue] of [[1, 50], [2, 20], [3, 90]] as const) {
      lanes.align(id, row(id, one));
      (lanes.find(id) ?? expect.fail()).nextDue = nextDue;
    }
    expect([0, 19, 20, 50, 89, 90].map(lanes.nextDue)).to.deep.equal([20, 20, 50, 90, 90, Infinity]);
  });

  it("are looked at again from the beginning of their queue", () => {
    const lanes = create();
    lanes.align(1, row(1, one));
    const lane = lanes.find(1) ?? expect.fail();
    Object.assign(lane, { ready: [waiting(3)], passed: 3, more: undefined });
    lookAgain(lane);
    expect([lane.ready, lane.passed, lane.more]).to.deep.equal([[], 0, 4]);
  });

  describe("add what has just been written", () => {
    const readToTheEnd = (ready: readonly number[] = []): Lane => {
      const lanes = create();
      lanes.align(1, row(1, one));
      return Object.assign(lanes.find(1) ?? expect.fail(), { ready: ready.map(waiting), passed: ready.at(-1) ?? 0, more: undefined });
    };
    const idsOf = ({ ready }: Lane): number[] => ready.map(({ id }) => id);

    it("where they have read all before it", () => {
      const lane = readToTheEnd([3, 5]);
      for (const id of [7, 9]) addWritten(lane, waiting(id));
      expect([idsOf(lane), lane.passed, lane.more]).to.deep.equal([[3, 5, 7, 9], 9, undefined]);
    });

    it("but not what they have read", () => {
      const lane = readToTheEnd([3, 5]);
      for (const id of [3, 5, 7]) addWritten(lane, waiting(id));
      expect(idsOf(lane)).to.deep.equal([3, 5, 7]);
      lane.ready = [];
      addWritten(lane, waiting(7));
      expect(idsOf(lane)).to.deep.equal([]);
    });

    it("nor what they are to read", () => {
      const lane = readToTheEnd([3, 5]);
      lookAgain(lane);
      addWritten(lane, waiting(7));
      expect([idsOf(lane), lane.passed, lane.more]).to.deep.equal([[], 0, 4]);
    });

    it("as far as there is room: the rest is read", () => {
      const lane = readToTheEnd();
      for (let id = 1; id <= 300; id++) addWritten(lane, waiting(id));
      expect([lane.ready.length, lane.passed, lane.more]).to.deep.equal([256, 256, 4]);
      lane.ready.splice(0, 100);
      addWritten(lane, waiting(301));
      expect([lane.ready.length, lane.passed]).to.deep.equal([156, 256]);
    });

    it("less of each, the more they are", () => {
      const lanes = create();
      const mostOf = (count: number): number => {
        for (let id = 1; id <= count; id++) lanes.align(id, row(id, one));
        return lanes.find(1)?.mostReady() ?? expect.fail();
      };
      expect([16, 17, 512, 2_000].map(mostOf)).to.deep.equal([256, 240, 8, 8]);
    });
  });
});
