import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createRegister, standingOf } from "../../src/webhooks/register/register.js";
import type { Progress, WebhookRow } from "../../src/webhooks/rows/rows.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

/** A list that takes several slices. */
const addresses = (first: number): string[] => Array.from({ length: 20_000 }, (_, index) => `A${first + index}`);

const asking = (value: string[]): Omit<WebhookRow, "id"> => ({ ...webhookRow, conditions: [{ key: "address", condition: "in", value }] });

describe("the register of webhooks in memory", () => {
  const store = useWebhookStore();

  it("has what a webhook asks for as it is now, however much of what it was and is has been taken in", async () => {
    const register = createRegister(store());
    const matched = (address: string): number[] => register.matcher().match("peer.added", { address }).ids;
    const { id } = store().transaction(() => store().addWebhook(asking(addresses(0))));
    for (let turns = 0; turns < 30; turns++) {
      // Begins to take it in, or does not.
      if (turns % 3 > 0) register.find(id);
      for (let turn = 0; turn < turns % 7; turn++) await nextTurn();
      const first = (turns + 1) * 100_000;
      store().transaction(() => store().putWebhook({ ...asking(addresses(first)), id }));
      if (turns % 2 > 0) register.find(id);
      for (let turn = 0; turn < turns % 5; turn++) await nextTurn();
      expect([first, first + 19_999, first - 1, first - 100_000].map((at) => matched(`A${at}`)), `${turns}`).to.deep.equal([[id], [id], [], []]);
    }
    store().transaction(() => store().removeWebhook(id));
    expect([matched("A3000000"), [...register.ids()]]).to.deep.equal([[], []]);
  });

  it("lets whoever has its matcher go on with it: what has changed meanwhile is whole, and never neither the old nor the new", async () => {
    const register = createRegister(store());
    const { id } = store().transaction(() => store().addWebhook(asking(addresses(0))));
    const matcher = register.matcher();
    expect(matcher.match("peer.added", { address: "A5" }).ids).to.deep.equal([id]);
    store().transaction(() => store().putWebhook({ ...asking([...addresses(100_000), "A5"]), id }));
    for (let turn = 0; turn < 10; turn++) {
      expect(matcher.match("peer.added", { address: "A5" }).ids).to.deep.equal([id]);
      register.find(id);
      await nextTurn();
    }
    expect(matcher.match("peer.added", { address: "A6" }).ids).to.deep.equal([]);
  });
});

describe("how webhooks stand", () => {
  const store = useWebhookStore();

  const add = (more: Partial<WebhookRow>, progress: Progress): void =>
    store().transaction(() => store().putProgress(store().addWebhook({ ...webhookRow, ...more }).id, progress));

  const standing = (tip: number) => {
    const work = standingOf({ store: store(), register: createRegister(store()) }, tip);
    for (let turns = 0; ; turns++) {
      const step = work.next();
      if (step.done === true) return { ...step.value, turns };
    }
  };

  it("is counted by state, with the blocks that the last of those enabled is behind; one a turn", () => {
    add({}, { cursor: "90-1" });
    add({}, { cursor: "70-1", part: { block: "71-1", isReversal: false, taken: 1 }, failing: { since: 5, from: 5, isAnnounced: false } });
    add({}, { from: "tip" });
    add({ enabled: false }, { cursor: "genesis", failing: { since: 5, from: 5, isAnnounced: false } });
    expect(standing(100)).to.deep.equal({ byState: { enabled: 2, failing: 1, disabled: 1 }, open: { pending: 0, retrying: 0 }, blocksBehind: 30, turns: 4 });
    expect(standing(75).blocksBehind).to.equal(5);
    expect(standing(0).blocksBehind).to.equal(0);
    add({}, { cursor: "genesis" });
    expect(standing(100)).to.deep.include({ blocksBehind: 100, turns: 5 });
  });

  it("is that of none where there are none", () => {
    expect(standing(100)).to.deep.equal({ byState: { enabled: 0, failing: 0, disabled: 0 }, open: { pending: 0, retrying: 0 }, blocksBehind: 0, turns: 0 });
  });
});
