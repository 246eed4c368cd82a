import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { systemClock } from "../../src/async/clock.js";
import { walletList } from "../../src/chain/lists.js";
import { everyRow, sorted, walk, walletSpec } from "../../src/conformance/lists.js";
import { createProblems } from "../../src/operate/problems.js";
import { textKey } from "../../src/store/layout/keys.js";
import type { Store } from "../../src/store/state/store.js";
import { createFollower } from "../../src/store/sync/follower.js";
import { areFilled } from "../../src/store/write/set-fills.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import type { BlockData } from "../../types/events.js";
import { programOf } from "../fixtures/programs.js";
import { silentLogger } from "../silent.js";
import { eventually } from "../webhooks/stage.js";
import { branches, end, fork, network } from "./filled-chain.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore } from "./temporary-store.js";

const setsKey = textKey("sets");
const open = (dataDir?: string) => openTemporaryStore(network, { undoBlocks: 10, ...(dataDir === undefined ? {} : { dataDir }) });

const extend = async ({ store, rules }: Pick<ReturnType<typeof open>, "store" | "rules">, blocks: readonly BlockData[], to: number): Promise<void> => {
  for (const data of blocks.slice(store.tip()?.height ?? 0, to)) await store.apply([rules.parseBlock(data)]);
};

const leave = async (store: Store, height: number): Promise<void> => {
  while ((store.tip()?.height ?? 0) > height) await store.revert();
};

/** Every order, by such a set or not, in both directions. */
const expectRightLists = async (store: Store): Promise<void> => {
  const snapshot = store.snapshot();
  if (snapshot === undefined) throw new Error("the store is empty");
  const rows = await everyRow(snapshot, walletSpec);
  for (const field of walletList.orders) {
    for (const direction of ["asc", "desc"] as const) {
      const found = await walk(snapshot, walletSpec, { filter: {}, order: { field, direction }, limit: 5_000 });
      expect(found.map(walletSpec.keyOf)).to.deep.equal(sorted(rows, { field, direction }, walletSpec).map(walletSpec.keyOf));
    }
  }
  snapshot.release?.();
};

/** Without the note of when each set was full. */
const contents = (store: Store): Record<string, string[]> => {
  const { meta = [], ...rest } = contentsOf(store);
  return { ...rest, meta: meta.filter((entry) => !entry.startsWith(setsKey.toString("hex"))) };
};

/** The store as an earlier version would have written it: the sets are there by another version, or not at all. */
const forget = async (store: Store): Promise<void> => {
  await store.environment.db.meta.remove(setsKey);
  store.freePages();
};

describe("a ranked set that a store does not have", function () {
  this.timeout(60_000);
  afterEach(closeTemporaryStores);

  it("is filled while lists are right and the chain goes on, leaves branches and is opened again, and is then as if it had always been there", async () => {
    const [one, other] = branches;
    let opened = open();
    await extend(opened, one, fork + 1);
    await forget(opened.store);
    // What happens to the chain between two parts of the filling.
    const meanwhile = [
      () => extend(opened, one, fork + 2),
      () => leave(opened.store, fork + 1),
      async () => {
        await opened.store.stop();
        opened = open(opened.dataDir);
      },
      () => leave(opened.store, fork),
      () => extend(opened, other, fork + 1),
      () => extend(opened, other, fork + 2),
      () => leave(opened.store, fork),
      () => extend(opened, one, fork + 3),
    ];
    let parts = 0;
    while (await opened.store.fillSets()) {
      await meanwhile[parts]?.();
      await expectRightLists(opened.store);
      parts++;
    }
    expect(parts, "parts of the filling").to.be.at.least(meanwhile.length);
    await expectRightLists(opened.store);

    const always = open();
    await extend(always, one, fork + 3);
    expect(contents(opened.store)).to.deep.equal(contents(always.store));
    // By undo records from before the set was full, and from after.
    for (const [blocks, down, up] of [[one, fork + 3, end], [other, fork, end - 1], [one, fork - 2, end], [other, fork - 2, fork]] as const) {
      for (const each of [opened, always]) {
        await leave(each.store, down);
        await extend(each, blocks, up);
      }
      await expectRightLists(opened.store);
      expect(contents(opened.store)).to.deep.equal(contents(always.store));
    }
  });

  it("is filled further by the process that follows one that was killed meanwhile", async () => {
    const [blocks] = branches;
    const written = open();
    await extend(written, blocks, end);
    const expected = contents(written.store);
    await forget(written.store);
    await written.store.stop();
    const child = spawn(process.execPath, [programOf(new URL("filling-process.ts", import.meta.url)), written.dataDir], { stdio: ["ignore", "pipe", "inherit"] });
    const parts: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) if (parts.push(line) === 3) child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect(parts).to.deep.equal(["true", "true", "true"]);

    const { store } = open(written.dataDir);
    await expectRightLists(store);
    let left = 0;
    while (await store.fillSets()) left++;
    expect(left, "parts left by the killed process").to.be.above(0);
    await expectRightLists(store);
    expect(contents(store)).to.deep.equal(expected);
  });

  it("is filled by itself while the host's blocks are written, as they come", async () => {
    const [blocks] = branches;
    const { store, rules, dataDir } = open();
    await extend({ store, rules }, blocks, fork);
    store.markComplete();
    await forget(store);
    const events = new EventEmitter();
    const follower = createFollower({ store, rules, events, source: undefined, logger: silentLogger, clock: systemClock, onProgress: undefined, problems: createProblems(silentLogger) });
    await follower.start();
    expect(areFilled(createReadSession(store.environment)), dataDir).to.equal(false);
    for (const data of blocks.slice(fork)) {
      events.emit("block.applied", data);
      await follower.settled();
    }
    expect(store.tip()?.height).to.equal(end);
    await eventually(() => {
      store.environment.root.resetReadTxn();
      return areFilled(createReadSession(store.environment)) || undefined;
    });
    await expectRightLists(store);
    await follower.stop();
  });
});
