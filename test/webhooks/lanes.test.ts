import { expect } from "chai";
import { createLimit } from "../../src/webhooks/deliver/concurrency.js";
import { createLanes, lookAgain } from "../../src/webhooks/deliver/lanes.js";
import type { DeliveryRow, WebhookRow } from "../../types/webhook-store.js";
import { webhookRow } from "./webhook-row.js";

const row = (id: number, target: string, more: Partial<WebhookRow> = {}): WebhookRow => ({ ...webhookRow, id, target, ...more });
const waiting = (id: number): DeliveryRow => ({ id, webhookId: 1, messageId: 1, key: "msg", event: "peer.added", at: 0, state: "pending", dueAt: null, finishedAt: null, hold: null, failures: 0, attemptCount: 0, attempts: [] });
const [one, other, elsewhere] = ["http://a.example/1", "http://a.example/2", "http://b.example/"];

describe("the lanes of webhooks", () => {
  const limit = createLimit(100, 1_000);
  const underWay = new Map<number, number>();
  const pauseOf = (url: string) => (url === elsewhere ? { pausedUntil: 500, lastPause: 100 } : { pausedUntil: 0, lastPause: 0 });
  const create = () => createLanes({ ordered: true, limit, concurrencyPerTarget: 8, underWay, isWithdrawn: (id) => id === 13, pauseOf });

  it("are those of enabled webhooks, each with all that it needs to begin with", () => {
    const lanes = create();
    const target = lanes.align(1, row(1, one));
    expect(lanes.align(2, row(2, one, { enabled: false }))).to.equal(undefined);
    expect([...lanes.ids()]).to.deep.equal([1]);
    const { isWithdrawn, target: itsOwn, ...lane } = lanes.find(1) ?? expect.fail();
    expect(lane).to.deep.equal({ webhook: row(1, one), underWay, open: { count: 0, taken: 0 }, skipped: false, ready: [], more: { passed: 0, size: 4 }, nextDue: 0, mayAt: 0, batchSince: undefined });
    expect(lane.underWay).to.equal(underWay);
    expect(itsOwn).to.equal(target).and.equal(lanes.target(one));
    expect([isWithdrawn(13), isWithdrawn(12)]).to.deep.equal([true, false]);
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
    lane.ready = [waiting(3)];
    lane.more = undefined;
    lookAgain(lane);
    expect([lane.ready, lane.more]).to.deep.equal([[], { passed: 0, size: 4 }]);
  });
});
