import { expect } from "chai";
import { hostStatus } from "../../../src/api/resources/node.js";
import type { ApiState } from "../../../src/api/state.js";
import type { SyncState } from "../../../types/node-context.js";

const statusOf = (sync: SyncState | undefined): unknown => hostStatus({ chain: { tip: { height: 10 } }, host: { sync } } as unknown as ApiState);

describe("the host's sync status", () => {
  it("is there at once if the host answers at once, so that no request waits for it", () => {
    expect(statusOf(undefined)).to.deep.equal({ synced: true, behind: 0 });
    expect(statusOf({ networkHeight: () => 12 })).to.deep.equal({ synced: false, behind: 2 });
    expect(statusOf({ networkHeight: () => 12, synced: () => true })).to.deep.equal({ synced: true, behind: 2 });
  });

  it("is awaited if the host needs time for either part", async () => {
    expect(await statusOf({ networkHeight: () => Promise.resolve(9) })).to.deep.equal({ synced: true, behind: -1 });
    expect(await statusOf({ networkHeight: () => 9, synced: () => Promise.resolve(false) })).to.deep.equal({ synced: false, behind: -1 });
  });

  it("fails with the host's error", async () => {
    const failure: unknown = await Promise.resolve(statusOf({ networkHeight: () => Promise.reject(new Error("no peers")) })).catch((error: unknown) => error);
    expect((failure as Error).message).to.equal("no peers");
  });
});
