import { expect } from "chai";
import { sharesOf } from "../../src/webhooks/scan/record/plan.js";
import type { WebhookRow } from "../../types/webhook-store.js";
import { webhookRow } from "./webhook-row.js";

describe("the webhooks for which a block is written together", () => {
  const webhooks = (count: number, targets: number): Map<number, WebhookRow> =>
    new Map(Array.from({ length: count }, (_, index) => [index + 1, { ...webhookRow, id: index + 1, target: `http://example.com/${index % targets}` }]));
  const sizes = (count: number, { targets = count, takesBack = false } = {}): number[][] => {
    const rows = webhooks(count, targets);
    const shares = sharesOf(rows.keys(), rows, takesBack);
    const ids = shares.flat().flatMap((chunk) => [...chunk]);
    expect(ids.sort((a, b) => a - b)).to.deep.equal([...rows.keys()]);
    return shares.map((chunks) => chunks.map(({ size }) => size));
  };
  const times = (count: number, size: number): number[][] => Array.from({ length: count }, () => [size]);

  it("are a sixteenth of them, at least eight and at most fifty", () => {
    expect(sizes(1)).to.deep.equal([[1]]);
    expect(sizes(32)).to.deep.equal(times(4, 8));
    expect(sizes(320)).to.deep.equal(times(16, 20));
    expect(sizes(1_000)).to.deep.equal(times(20, 50));
  });

  it("are fifty where something may be taken back: that is looked for once for each chunk", () => {
    expect(sizes(100, { takesBack: true })).to.deep.equal(times(2, 50));
    expect(sizes(8, { takesBack: true })).to.deep.equal([[8]]);
  });

  it("are written side by side where they have one target, so that its events stay in order", () => {
    expect(sizes(20, { targets: 1 })).to.deep.equal([[8, 8, 4]]);
    expect(sizes(12, { targets: 2 })).to.deep.equal([[6], [6]]);
  });
});
