import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { systemClock } from "../../src/async/clock.js";
import { walletList } from "../../src/chain/lists.js";
import { everyRow, sorted, walk, walletSpec } from "../../src/conformance/lists.js";
import { createProblems } from "../../src/operate/problems.js";
import { textKey } from "../../src/store/layout/keys.js";
import type { Store } from "../../src/store/state/store.js";
import { createFollower } from "../../src/store/sync/follower.js";
import type { BlockData } from "../../types/events.js";
import { isLong } from "../fixtures/long.js";
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

/** In both directions. `nonce` is by the set that is filled. */
const expectRightLists = async (store: Store, orders: readonly (typeof walletList.orders)[number][] = walletList.orders): Promise<void> => {
  const snapshot = store.snapshot();
  if (snapshot === undefined) throw new Error("the store is empty");
  const rows = await everyRow(snapshot, walletSpec);
  for (const field of orders) {
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

describe("a ranked set that a store does not have", () => {
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
      await expectRightLists(opened.store, isLong ? walletList.orders : ["nonce", "publicKey"]);
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
      await expectRightLists(opened.store, isLong ? walletList.orders : ["nonce"]);
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

  /** A follower of a store that lacks the set at a height, with what it logs. */
  const followAt = async (height: number) => {
    const { store, rules } = open();
    await extend({ store, rules }, branches[0], height);
    store.markComplete();
    await forget(store);
    const lines: string[] = [];
    const logger = { ...silentLogger, info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
    const events = new EventEmitter();
    const follower = createFollower({ store, rules, events, source: undefined, logger, clock: systemClock, onProgress: undefined, problems: createProblems(silentLogger) });
    const emit = async (data: BlockData): Promise<void> => {
      events.emit("block.applied", data);
      await follower.settled();
    };
    return { store, follower, lines, emit };
  };

  it("is filled by itself while the host's blocks are written, as they come", async () => {
    const { store, follower, emit } = await followAt(fork);
    await follower.start();
    expect(store.filling()).to.include({ filled: 0 });
    for (const data of branches[0].slice(fork)) await emit(data);
    expect(store.tip()?.height).to.equal(end);
    await eventually(() => store.filling() === undefined || undefined);
    await expectRightLists(store);
    await follower.stop();
  });

  it("shows in the log, by tenths, and in health; each cause of a failure is logged once, and what would be too wide is refused for now", async () => {
    const { store, follower, lines, emit } = await followAt(end);
    const { fillSets } = store;
    store.fillSets = () => Promise.reject(new Error("out of order"));
    await follower.start();
    for (let times = 0; times < 3; times++) {
      await emit(branches[0][end - 1] as BlockData);
      await nextTurn();
      await follower.settled();
    }
    expect(lines.filter((line) => line.includes("out of order"))).to.have.length(1);
    expect(follower.filling()).to.match(/^an index of wallets is being filled \(0 %\)/);
    const snapshot = store.snapshot({ searchRows: 100 });
    const refused = await Promise.resolve(snapshot?.wallets({ filter: {}, order: { field: "nonce", direction: "desc" }, offset: 0, limit: 5 })).catch((error: unknown) => error);
    expect(refused).to.include({ code: "NOT_READY", status: 503 }).with.property("message").that.matches(/index of wallets by nonce is being filled/);
    snapshot?.release?.();

    store.fillSets = fillSets;
    await emit(branches[0][end - 1] as BlockData);
    await eventually(() => store.filling() === undefined || undefined);
    await eventually(() => lines.includes("the index of wallets is filled") || undefined);
    const percents = lines.flatMap((line) => /: (\d+) % of \d+ wallets$/.exec(line)?.[1] ?? []).map(Number);
    expect(percents[0]).to.equal(0);
    expect(percents.length).to.be.within(4, 11);
    expect(new Set(percents.map((percent) => Math.floor(percent / 10))).size).to.equal(percents.length);
    expect(follower.filling()).to.equal(undefined);
    await follower.stop();
  });
});
