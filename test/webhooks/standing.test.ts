import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Progress, WebhookRow } from "../../src/webhooks/rows/rows.js";
import { openWebhookStore, type WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import { createRegister, standingOf } from "../../src/webhooks/register/register.js";
import { webhookRow } from "./webhook-row.js";

describe("how webhooks stand", () => {
  let dataDir: string;
  let environment: WebhookEnvironment;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "portico-standing-"));
    environment = openWebhookStore(dataDir);
  });
  afterEach(async () => {
    await environment.close();
    rmSync(dataDir, { recursive: true });
  });

  const add = (more: Partial<WebhookRow>, progress: Progress): void =>
    environment.store.transaction(() => environment.store.putProgress(environment.store.addWebhook({ ...webhookRow, ...more }).id, progress));

  const standing = (tip: number) => {
    const { store } = environment;
    const work = standingOf({ store, register: createRegister(store) }, tip);
    for (let turns = 0; ; turns++) {
      const step = work.next();
      if (step.done === true) return { ...step.value, turns };
    }
  };

  it("is counted by state, with the blocks that the last of those enabled is behind; one a turn", () => {
    add({}, { cursor: "90-1", failingSince: null });
    add({}, { cursor: "70-1", part: { block: "71-1", isReversal: false, taken: 1 }, failingSince: 5 });
    add({}, { from: "tip", failingSince: null });
    add({ enabled: false }, { cursor: "genesis", failingSince: 5 });
    expect(standing(100)).to.deep.equal({ byState: { enabled: 2, failing: 1, disabled: 1 }, blocksBehind: 30, turns: 4 });
    expect(standing(75).blocksBehind).to.equal(5);
    expect(standing(0).blocksBehind).to.equal(0);
    add({}, { cursor: "genesis", failingSince: null });
    expect(standing(100)).to.deep.include({ blocksBehind: 100, turns: 5 });
  });

  it("is that of none where there are none", () => {
    expect(standing(100)).to.deep.equal({ byState: { enabled: 0, failing: 0, disabled: 0 }, blocksBehind: 0, turns: 0 });
  });
});
