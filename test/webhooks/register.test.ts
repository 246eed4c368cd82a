import { expect } from "chai";
import { createRegister, standingOf } from "../../src/webhooks/register/register.js";
import type { Progress, WebhookRow } from "../../src/webhooks/rows/rows.js";
import { useWebhookStore } from "./own-store.js";
import { webhookRow } from "./webhook-row.js";

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
